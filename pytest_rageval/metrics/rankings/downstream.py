"""Choose the metric that labels retrieved documents."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rageval.errors import SettingError
from pytest_rageval.model.metric import Metric

__all__ = ["downstream_of"]


def downstream_of(metrics: Iterable[Metric]) -> Metric:
    """Return the metric that labels documents: the first answer metric without a judge whose higher values are better.

    Raises:
        SettingError: ``metrics`` has no such metric, or one of them cannot use its labels.
    """
    listed = list(metrics)
    labelled = [metric for metric in listed if metric.labels != "none" or "labels" in metric.needs]
    label = next((m for m in listed if m.downstream and m.judge is None and m.higher_is_better), None)
    if label is None:
        advice = "add one that no judge gives, as token_f1"
        raise SettingError(
            f"{labelled[0].name} labels documents by a metric of the answer, and there is none; {advice}"
        )
    unfit = [metric for metric in labelled if metric.labels == "binary" and not label.binary]
    if unfit:
        advice = "put a metric of 0 or 1 before it, as accuracy, or take erag:P@k or erag:Success@k"
        raise SettingError(f"{unfit[0].name} needs labels that are 0 or 1, and {label.name} gives others; {advice}")
    return label
