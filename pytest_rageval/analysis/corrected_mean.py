"""Correct a judge's mean by a few labelled answers: prediction-powered inference.

Sources: A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, "Prediction-powered inference", Science 382
(2023); A. N. Angelopoulos, J. C. Duchi, T. Zrnic, "PPI++: Efficient prediction-powered inference" (2023): the weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, variance

from pytest_rageval.analysis.clusters import over_units
from pytest_rageval.analysis.statistics import Interval, Mean, mean_of, t_quantile
from pytest_rageval.analysis.units import Units

__all__ = [
    "FEWEST", "CorrectedMean", "corrected_mean", "corrected_mean_of_units", "influences", "shifted_mean_of_units",
    "standard_error",
]  # fmt: skip

FEWEST = 10
"""Smallest number of independent units with labels that allows a correction."""


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """An estimate of the mean that people would give to all cases, from the judge's values and a few labels.

    Attributes:
        n_labelled: cases with both a label and the judge's value.
        n_judged: cases with the judge's value, including labelled cases.
        raw: the mean of the judge's values, with its bootstrap interval.
        labelled: the mean of people's values, with its bootstrap interval.
        value: the corrected mean, in 0..1; None if there are too few labels.
        ci95: its 95 % interval, cut to 0..1; None if people gave one value to all labelled cases.
        weight: weight of the judge's values, in 0..1; with 0 the corrected mean is people's mean.
        reason: why there is no interval: "too_few" labels, or "one_value" if people gave one value to all labelled
            cases; None if there is an interval.
    """

    n_labelled: int
    n_judged: int
    raw: Mean
    labelled: Mean
    value: float | None = None
    ci95: Interval | None = None
    weight: float | None = None
    reason: str | None = None


def corrected_mean(people: Sequence[float], judged: Sequence[float], others: Sequence[float]) -> CorrectedMean:
    """Return the corrected mean of a metric; all values in 0..1, one for each case.

    Formula: w * mean(others) + mean(people - w * judged). The weight w in 0..1 minimises the variance:
    Cov(people, judged) / ((1 + n / N) Var(judged)), with n labelled and N other cases. The labelled cases must be a
    random sample of all cases.

    The interval is Student's with n - 1 degrees of freedom. It is computed over the labelled cases and four
    pseudo-cases: people and the judge both say 0, both say 1, and each says 1 while the other says 0. The pseudo-cases
    stand for rare errors of the judge, because a few labels often contain none. Without them the interval is too
    narrow: it covered the truth in 86 to 95 % of experiments with 15 labels (`tests/benchmarks/corrected_means.py`).
    With a weight of 0 the judge is ignored, and the interval is that of the labels alone.

    Source: A. Agresti and B. A. Coull, "Approximate is better than exact", The American Statistician 52 (1998): four
    pseudo-cases for one proportion; A. Agresti and Y. Min, "Simple improved confidence intervals for comparing matched
    proportions", Statistics in Medicine 24 (2005): equal counts in the four cells of matched pairs, there 1/2, here 1.

    Args:
        people: people's values of the labelled cases.
        judged: the judge's values of the same cases, in the same order.
        others: the judge's values of the unlabelled cases; at least one.
    """
    n, size = len(people), len(others)
    all_judged = [*judged, *others]
    raw, labelled = mean_of(all_judged, binary=False), mean_of(people, binary=False)
    if n < FEWEST or not size:
        return CorrectedMean(n, len(all_judged), raw, labelled, reason="too_few")
    weight = _weight(people, judged, all_judged, n / size)
    errors = [person - weight * value for person, value in zip(people, judged, strict=True)]
    value = min(1.0, max(0.0, weight * fmean(others) + fmean(errors)))
    if min(people) == max(people):
        return CorrectedMean(n, len(all_judged), raw, labelled, value, weight=weight, reason="one_value")
    interval = _interval(errors, others, weight) if weight else labelled.ci95
    if interval is not None:
        interval = (min(value, interval[0]), max(value, interval[1]))
    return CorrectedMean(n, len(all_judged), raw, labelled, value, interval, weight)


def _interval(errors: Sequence[float], others: Sequence[float], weight: float) -> Interval:
    """Return the 95 % interval, cut to 0..1; see `corrected_mean`."""
    centre = weight * fmean(others) + fmean(_smoothed(errors, weight))
    half = t_quantile(len(errors) - 1) * standard_error(errors, others, weight)
    return (max(0.0, centre - half), min(1.0, centre + half))


def standard_error(errors: Sequence[float], others: Sequence[float], weight: float) -> float:
    """Return the standard error of a corrected mean, with the four pseudo-cases of `corrected_mean`.

    Args:
        errors: people's value minus the weighted judge's value of each labelled case.
        others: the judge's values of the unlabelled cases.
        weight: weight of the judge's values, in 0..1.
    """
    smoothed = _smoothed(errors, weight)
    of_others = variance(others) / len(others) if len(others) > 1 else 0.0
    return math.sqrt(weight**2 * of_others + variance(smoothed) / len(smoothed))


def _smoothed(errors: Sequence[float], weight: float) -> list[float]:
    return [*errors, 0.0, 1.0 - weight, 1.0, -weight]


def corrected_mean_of_units(
    people: Sequence[float], judged: Sequence[float], others: Sequence[float], units: Units
) -> CorrectedMean:
    """Return the corrected mean with intervals over independent units; see `corrected_mean`.

    Formula: the variance is K / (K - 1) times the sum of the squared influences of the K units. The influence of a unit
    is the sum over its labelled cases of (e - mean(e)) / n, with e = people - w * judged, and over its other cases of
    w * (judged - mean(others)) / N. The degrees of freedom are the number of units with labels minus one. The interval
    is never narrower than that of independent cases.

    Args:
        people: people's values of the labelled cases.
        judged: the judge's values of the same cases, in the same order.
        others: the judge's values of the unlabelled cases; at least one.
        units: the units of the labelled cases, then of the others.
    """
    result = corrected_mean(people, judged, others)
    n, all_judged = len(people), [*judged, *others]
    if units.n == len(all_judged):
        return result
    labelled = Units(units.names[:n], len(set(units.names[:n])), units.facet)
    result = replace(
        result,
        raw=over_units(result.raw, units, all_judged, binary=False, low=0.0),
        labelled=over_units(result.labelled, labelled, people, binary=False, low=0.0),
    )
    if labelled.n < FEWEST:
        return replace(result, value=None, ci95=None, weight=None, reason="too_few")
    if result.value is None or result.weight is None or result.ci95 is None:
        return result
    interval = _over_units(
        result.ci95, result.value, influences(people, judged, others, result.weight), units, labelled.n
    )
    return replace(result, ci95=interval)


def shifted_mean_of_units(
    people: Sequence[float], judged: Sequence[float], now: Sequence[float], units: Units
) -> CorrectedMean:
    """Correct the mean of new, unlabelled answers with labels of other answers, such as earlier ones.

    Formula: mean(now) + mean(people - judged). The labels show the judge's error, but not how good the new answers are.
    The judge's weight is therefore 1: with a lower weight, people's mean of the earlier answers would hide a drop. The
    formula assumes that the judge has the same mean error on both sets of answers. The interval is that of
    `corrected_mean`.

    Args:
        people: people's values of the labelled answers.
        judged: the judge's values of the labelled answers, in the same order.
        now: the judge's values of the new answers, whose mean is estimated; at least one.
        units: the units of the labelled answers, then of the new answers.
    """
    n = len(people)
    labelled = Units(units.names[:n], len(set(units.names[:n])), units.facet)
    units_now = Units(units.names[n:], len(set(units.names[n:])), units.facet)
    raw = over_units(mean_of(now, binary=False), units_now, now, binary=False, low=0.0)
    of_labels = over_units(mean_of(people, binary=False), labelled, people, binary=False, low=0.0)
    if labelled.n < FEWEST:
        return CorrectedMean(n, len(now), raw, of_labels, reason="too_few")
    errors = [person - value for person, value in zip(people, judged, strict=True)]
    value = min(1.0, max(0.0, fmean(now) + fmean(errors)))
    low, high = _interval(errors, now, 1.0)
    interval = min(value, low), max(value, high)
    if units.facet:
        interval = _over_units(interval, value, influences(people, judged, now, 1.0), units, labelled.n)
    return CorrectedMean(n, len(now), raw, of_labels, value, interval, 1.0)


def influences(people: Sequence[float], judged: Sequence[float], others: Sequence[float], weight: float) -> list[float]:
    """Return how much each case moves the corrected mean: first labelled cases, then the others. The sum is 0."""
    errors = [person - weight * value for person, value in zip(people, judged, strict=True)]
    groups = (errors, 1.0), (others, weight)
    return [factor * (value - fmean(group)) / len(group) for group, factor in groups for value in group]


def _over_units(
    interval: Interval, value: float, moves: Sequence[float], units: Units, n_labelled_units: int
) -> Interval:
    """Return an interval that is at least as wide as the interval over independent units, cut to 0..1."""
    sums = [math.fsum(each) for each in units.grouped(moves).values()]
    spread = units.n / (units.n - 1) * math.fsum(each * each for each in sums)
    half = t_quantile(n_labelled_units - 1) * math.sqrt(spread)
    low, high = interval
    return max(0.0, min(low, value - half)), min(1.0, max(high, value + half))


def _weight(people: Sequence[float], judged: Sequence[float], all_judged: Sequence[float], ratio: float) -> float:
    """Return the weight of the judge's values that makes the interval narrowest."""
    spread = variance(all_judged)
    if spread == 0:
        return 0.0
    one, other = fmean(people), fmean(judged)
    both = sum((a - one) * (b - other) for a, b in zip(people, judged, strict=True)) / (len(people) - 1)
    return min(1.0, max(0.0, both / ((1 + ratio) * spread)))
