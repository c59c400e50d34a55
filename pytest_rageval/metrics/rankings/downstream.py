"""Choose the answer metric whose scores label retrieved documents, for eRAG."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rageval.errors import SettingError
from pytest_rageval.model.metric import Metric

__all__ = ["downstream_of"]


def downstream_of(metrics: Iterable[Metric]) -> Metric:
    """Return the metric that labels documents: the first answer metric without a judge whose higher values are better.

    Args:
        metrics: the metrics of a testbed, in order.

    Raises:
        SettingError: there is no such metric, or another metric cannot use its labels.
    """
    all_metrics = list(metrics)
    users = [metric for metric in all_metrics if metric.labels != "none" or "labels" in metric.needs]
    label = next((m for m in all_metrics if m.downstream and m.judge is None and m.higher_is_better), None)
    if label is None:
        advice = "add one without a judge, such as token_f1"
        raise SettingError(f"{users[0].name} labels documents by a metric of the answer, and there is none; {advice}")
    unfit = [metric for metric in users if metric.labels == "binary" and not label.binary]
    if unfit:
        advice = "put a metric with the values 0 and 1 before it, such as accuracy, or use erag:P@k or erag:Success@k"
        raise SettingError(f"{unfit[0].name} needs labels that are 0 or 1, and {label.name} gives others; {advice}")
    return label
