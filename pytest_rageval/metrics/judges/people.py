"""``people:METRIC``: METRIC's mean, corrected by labels of people."""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["LABELLED_EARLIER", "NOT_LABELLED", "PEOPLE", "corrected_metric", "people_metric"]

PEOPLE = "people:"
"""Prefix of the names of these metrics."""

NOT_LABELLED = Score.not_applicable("no person labelled this answer")

LABELLED_EARLIER = "not_applicable: people labelled an earlier answer"
"""The reason of a score if people labelled only an earlier answer of the same system to this case."""


def corrected_metric(name: str) -> str:
    """Return METRIC of the name ``people:METRIC``; "" for any other name."""
    return name.removeprefix(PEOPLE) if name.startswith(PEOPLE) else ""


def people_metric(name: str, head: str, get: Callable[[str], Metric]) -> Metric:
    """Return the metric ``people:METRIC``."""
    inner = name.removeprefix(f"{head}:")
    if inner in ("", name):
        raise SettingError(f"metric {short_repr(name)} names no metric to correct; write {PEOPLE}METRIC")
    metric = get(inner)
    judge = metric.judge_asked
    if corrected_metric(inner) or (judge is not None and judge.name != metric.name):
        known = f"{PEOPLE}{corrected_metric(inner) or (judge.name if judge else '')}"
        raise SettingError(f"metric {short_repr(name)} corrects a metric that people do not label; write {known}")

    def labelled(sample: Sample) -> Score:
        """Score an answer by people's labels, and a run by METRIC corrected by them.

        Formula: for one answer, the mean value of its labels. For several answers of one system, METRIC's mean,
        corrected by the labels (PPI++, see `pytest_rageval.analysis.corrected_mean`). The session matches labels to
        answers at its end: until then, and without a label, an answer has no value.
        Range: 0..1, direction of METRIC. Empty input: an answer without labels has no value; a mean has no value if
        the system has fewer than 10 labels ("too_few_labels").
        Source: Angelopoulos, Duchi and Zrnic, "PPI++" (2023).
        """
        return NOT_LABELLED

    return Metric(name, labelled, higher_is_better=metric.higher_is_better, of=metric.of)
