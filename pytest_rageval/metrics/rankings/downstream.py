"""Which metric tells what a retrieved document is worth."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rageval.errors import SettingError
from pytest_rageval.model.metric import Metric

__all__ = ["downstream_of"]


def downstream_of(metrics: Iterable[Metric]) -> Metric:
    """Return the metric that labels documents: the first of the answer, better the higher, that asks no model.

    Raises:
        SettingError: there is none among ``metrics``, or one of them cannot read its labels.
    """
    listed = list(metrics)
    asking = [metric for metric in listed if metric.labels != "none"]
    label = next((m for m in listed if m.downstream and m.judge is None and m.higher_is_better), None)
    if label is None:
        wanted = "add one that no judge gives, as token_f1"
        raise SettingError(f"{asking[0].name} labels documents by a metric of the answer, and there is none; {wanted}")
    unfit = [metric for metric in asking if metric.labels == "binary" and not label.binary]
    if unfit:
        wanted = "put a metric of 0 or 1 before it, as accuracy, or take erag:P@k or erag:Success@k"
        raise SettingError(f"{unfit[0].name} needs labels that are 0 or 1, and {label.name} gives others; {wanted}")
    return label
