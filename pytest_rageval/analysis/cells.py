"""Compute a metric, a pseudo-metric, a gain or a difference over outcomes.

A pseudo-metric has no score: it is a count (``n``), the ``error_rate``, or a sum, quantile or mean of usage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated

from pytest_rageval.analysis.clusters import mean_over, over_units, pairs_of
from pytest_rageval.analysis.corrected_cases import LabelsUsed, corrected_cases
from pytest_rageval.analysis.statistics import Interval, mean_of
from pytest_rageval.analysis.units import units_of_outcomes
from pytest_rageval.analysis.usage import USAGE_FIELDS, outcomes_with_answer, summarize_usage, usage_value
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import Bounds

__all__ = ["GAIN", "MODEL_ACCURACY", "RAG_ACCURACY", "Cell", "cell_of", "difference_of", "value_of"]

RAG_ACCURACY, MODEL_ACCURACY = "accuracy", "closed_book_accuracy"
"""The accuracy of the system's answer, and of the model's answer to the question without passages."""

GAIN = f"{RAG_ACCURACY} - {MODEL_ACCURACY}"
"""The gain from retrieval: the difference of these two metrics on the same case, in -1..1."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric over some cases.

    Attributes:
        mean: mean of the scored outcomes; for a pseudo-metric its sum, quantile, rate or count. None if unknown.
        n: number of scored outcomes, each repeat counted; for a usage pseudo-metric, number of answers that
            report it; for a difference between systems, number of cases with both values.
        n_unscored: number of outcomes with an error or without a value; for a usage pseudo-metric, number of answers
            that do not report it; for a difference, number of cases that lack a value.
        ci95: the mean's 95 % interval, if it has one.
        n_cases: number of cases behind ``n`` if cases were repeated (the mean is then of their means); else None.
        n_units: number of independent units of the cases, if fewer; else None.
        unit: the facet that joins cases to units; "" if there is none.
        labels: the labels that corrected the mean, for ``people:METRIC``.
    """

    mean: float | None
    n: int
    n_unscored: int
    ci95: Interval | None
    n_cases: int | None = None
    n_units: Annotated[int, Bounds(1)] | None = None
    unit: str = ""
    labels: LabelsUsed | None = None


def cell_of(metric: str, binary: bool, outcomes: Sequence[Outcome]) -> Cell:
    """Return ``metric`` over ``outcomes``, with the number of unscored outcomes.

    The error rate is over all outcomes except skipped ones. The metric ``n`` counts the scored outcomes; if nothing was
    scored it is unknown, not 0. Usage is over all outcomes with an answer.
    """
    if metric in USAGE_FIELDS:
        answers = outcomes_with_answer(outcomes)
        values = [value for outcome in answers if (value := usage_value(metric, outcome)) is not None]
        unknown = len(answers) - len(values)
        return Cell(summarize_usage(metric, values, unknown), len(values), unknown, None)
    if corrected_metric(metric):
        return _corrected(metric, outcomes)
    if metric == "n":
        n = sum(outcome.status == "scored" for outcome in outcomes)
        return Cell(float(n) if n else None, n, len(outcomes) - n, None)
    if metric == "error_rate":
        failed = [None if o.status == "skipped" else float(o.status == "error") for o in outcomes]
        mean = mean_over(outcomes, failed, binary=True)
    elif metric == GAIN:
        gains = [value_of(GAIN, o) if o.status == "scored" else None for o in outcomes]
        mean = mean_over(outcomes, gains, binary=False, low=-1.0)
    else:
        scores = [o.scores.get(metric) if o.status == "scored" else None for o in outcomes]
        mean = mean_over(outcomes, [None if score is None else score.value for score in scores], binary=binary)
    return Cell(mean.value, mean.n, len(outcomes) - mean.n, mean.ci95, mean.n_cases, mean.n_units, mean.unit)


def _corrected(metric: str, outcomes: Sequence[Outcome]) -> Cell:
    """Return the corrected mean of one system's outcomes; it has no value for several systems."""
    n, corrected, labels, units = corrected_cases(metric, outcomes)
    n_cases = None if n == corrected.n_judged else corrected.n_judged
    n_units = units.n if units.facet else None
    return Cell(corrected.value, n, len(outcomes) - n, corrected.ci95, n_cases, n_units, units.facet, labels)


def difference_of(metric: str, outcomes: Sequence[Outcome], system: str) -> Cell:
    """Return by how much ``metric`` is higher under ``system`` than under the other system, over the same cases.

    Args:
        metric: a metric in 0..1.
        outcomes: the outcomes of two systems.
        system: the name of one of them.

    Returns:
        The mean difference in -1..1 over the cases scored under both systems, and the interval over their
        independent units; a repeated case counts with the mean of its repeats.
    """
    pairs = pairs_of(outcomes, system)
    both: list[Outcome] = []
    differences: list[float] = []
    for runs, runs_of_other in pairs:
        one, other = _mean(metric, runs), _mean(metric, runs_of_other)
        if one is not None and other is not None:
            both.append(runs[0])
            differences.append(one - other)
    mean = mean_of(differences, binary=False, low=-1.0)
    mean = over_units(mean, units_of_outcomes(both), differences, binary=False, low=-1.0)
    return Cell(mean.value, mean.n, len(pairs) - mean.n, mean.ci95, None, mean.n_units, mean.unit)


def value_of(metric: str, outcome: Outcome) -> float | None:
    """Return an outcome's value of a metric or of the gain, or None."""
    if metric == GAIN:
        one, other = value_of(RAG_ACCURACY, outcome), value_of(MODEL_ACCURACY, outcome)
        return None if one is None or other is None else one - other
    score = outcome.scores.get(metric)
    return None if score is None else score.value


def _mean(metric: str, runs: Sequence[Outcome]) -> float | None:
    values = [value for run in runs if run.status == "scored" and (value := value_of(metric, run)) is not None]
    return fmean(values) if values else None
