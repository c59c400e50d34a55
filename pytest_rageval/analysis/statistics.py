"""Means with their counts and 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

__all__ = [
    "LEVEL",
    "Interval",
    "Mean",
    "bonett_price_interval",
    "bootstrap_interval",
    "changes_interval",
    "clustered_interval",
    "mean_of",
    "mean_of_cases",
    "quantile",
    "t_quantile",
    "wilson_interval",
]

Interval = tuple[float, float]

LEVEL = 0.95
_Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
_ALIKE = 1e-9  # values that are this near to each other differ by rounding


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean that does not hide what it is a mean of.

    Attributes:
        value: the mean; None when nothing was scored.
        n: how many values it is the mean of.
        ci95: its 95 % interval, within the range of the values; None when n cannot give one.
        n_cases: how many cases the values are of, where cases were repeated; None where each has one value.
        n_units: how many independent units the cases form, if that is fewer; else None.
        unit: the facet that joins cases to units, see `pytest_rageval.analysis.units.Units`; "" if nothing does.
    """

    value: float | None
    n: int
    ci95: Interval | None
    n_cases: int | None = None
    n_units: int | None = None
    unit: str = ""


def mean_of(values: Sequence[float], *, binary: bool, low: float = 0.0) -> Mean:
    """Return the mean of ``values`` in low..1: Wilson's interval for rates, the bootstrap's for the rest."""
    if not values:
        return Mean(None, 0, None)
    mean = fmean(values)
    if binary:
        return Mean(mean, len(values), wilson_interval(sum(values), len(values)))
    return Mean(mean, len(values), bootstrap_interval(values, low))


def mean_of_cases(cases: Sequence[Sequence[float]], *, binary: bool, low: float = 0.0) -> Mean:
    """Return the mean of the cases' own means, each over the values of its repeats (at least one), in low..1.

    The case is the unit of the interval, as repeats of one case are not independent of each other: Wilson's for a
    rate whose cases each have the same value in all repeats, else the bootstrap's over the cases' means.
    """
    means = [fmean(values) for values in cases]
    steady = all(mean in (0.0, 1.0) for mean in means)
    mean = mean_of(means, binary=binary and steady, low=low)
    return Mean(mean.value, sum(map(len, cases)), mean.ci95, len(means))


def clustered_interval(units: Sequence[Sequence[float]], *, binary: bool, low: float = 0.0) -> Interval | None:
    """Return the 95 % interval of the mean of all values of ``units``, which depend on each other within a unit.

    Formula: of the mean m of all values and the jackknife variance v over K units, the ends of logit(m) ± t sqrt(v) /
    (m (1 - m)), brought back to 0..1, with Student's t for K - 1 degrees of freedom. If 0/1 values are alike within
    each unit and all units have one size, the units are 0/1 values themselves: Wilson's interval for K - 1 of them, as
    with K it holds the truth too rarely for 15 units (0.915). Differences (``low`` = -1) have Bonett and Price's over
    units, see `changes_interval`. All of them hold the truth in 93 % of runs or more from 15 units on, see
    tests/benchmarks/clusters.py.

    Range: ``low``..1, and the mean lies inside. None if the units are too few to give an interval.

    Source: W. G. Cochran, "Sampling techniques" (1977), 6.3, the ratio of sums; N. Dean and M. Pagano, "Evaluating
    confidence interval methods for binomial proportions in clustered surveys", JSSAM 3 (2015): the logit.

    Args:
        units: the values of each unit, at least one.
        binary: whether the values are 0 or 1.
        low: the least that a value can be.
    """
    n, total, sums = len(units), sum(map(len, units)), [math.fsum(values) for values in units]
    whole = math.fsum(sums)
    mean = whole / total
    means = [each / len(values) for each, values in zip(sums, units, strict=True)]
    even = len({len(values) for values in units}) == 1
    if binary and all(each in (0.0, 1.0) for each in means) and (even or mean in (0.0, 1.0)):
        return wilson_interval(sum(means), n) if mean in (0.0, 1.0) else wilson_interval(mean * (n - 1), n - 1)
    if n < 2:
        return None
    if low < 0:
        spread = (len(values) * n / total * (each - mean) for values, each in zip(units, means, strict=True))
        return changes_interval(means if even else [mean + each for each in spread], mean, low)
    without = [(whole - each) / (total - len(values)) for each, values in zip(sums, units, strict=True)]
    variance = (n - 1) / n * math.fsum((each - mean) ** 2 for each in without)
    if variance <= _ALIKE**2 / n or not 0 < mean < 1:
        return _alike_interval(mean, n, low)
    half = t_quantile(n - 1) * math.sqrt(variance) / (mean * (1 - mean))
    below, above = (0.5 + 0.5 * math.tanh((math.log(mean / (1 - mean)) + side) / 2) for side in (-half, half))
    return (max(0.0, min(mean, below)), min(1.0, max(mean, above)))


def changes_interval(changes: Sequence[float], mean: float, low: float = -1.0) -> Interval:
    """Return the 95 % interval of the mean of changes in ``low``..1, one for each of two independent units or more.

    Formula: with two changes added, one for the better and one for the worse, each as great as the typical change s =
    sum(d^2) / sum(abs(d)): c ± z sqrt((sum(d^2) + 2 s^2) / (n + 2) - c^2) / sqrt(n + 2), with c = sum(d) / (n + 2). Of
    changes by -1, 0 and 1 it is Bonett and Price's interval.

    Source: D. G. Bonett and R. M. Price, see `bonett_price_interval`; the size of the added changes is ours.
    """
    n, squares, sizes = len(changes) + 2, math.fsum(d * d for d in changes), math.fsum(map(abs, changes))
    if sizes <= _ALIKE * n:
        return _alike_interval(mean, n - 2, low)
    centre = math.fsum(changes) / n
    half = _Z * math.sqrt(((squares + 2 * (squares / sizes) ** 2) / n - centre**2) / n)
    return (max(low, min(mean, centre - half)), min(1.0, max(mean, centre + half)))


def wilson_interval(successes: float, n: int) -> Interval:
    """Return Wilson's 95 % score interval for ``successes`` out of ``n`` > 0.

    Source: E. B. Wilson, "Probable inference", JASA 22 (1927).
    """
    p = successes / n
    z2 = _Z * _Z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return (min(p, max(0.0, centre - half)), max(p, min(1.0, centre + half)))  # p: no rounding at its ends


def bonett_price_interval(up: float, down: float, n: int) -> Interval:
    """Return the 95 % interval of the mean difference of ``n`` pairs of 0/1 values, ``up`` + 1 and ``down`` - 1.

    Source: D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of binomial proportions
    based on paired data", JEBS 37 (2012).
    """
    one, other = (up + 1) / (n + 2), (down + 1) / (n + 2)
    half = _Z * math.sqrt((one + other - (one - other) ** 2) / (n + 2))
    return (max(-1.0, one - other - half), min(1.0, one - other + half))


def bootstrap_interval(values: Sequence[float], low: float = 0.0) -> Interval | None:
    """Return the bootstrap's 95 % interval for the mean of ``values`` in low..1, cut to that range; None for n < 2.

    Values that are all alike say nothing of how they spread, and resamples of them even less. As values in 0..1 spread
    no more than 0/1 values of their mean, they have the interval of such a rate: Wilson's. Differences in -1..1 have
    Bonett and Price's of as many pairs that all went one way, by as much; or none, by 1.

    It is the ABC interval: the bias-corrected and accelerated bootstrap (BCa), told from the values' moments instead
    of from resamples, so that there is no chance in it, neither the order of the values nor a seed matters, and a
    million values take as little as their sums. For few values Student's quantile and the unbiased variance stand in
    for the normal ones, as the bootstrap alone is too narrow there: of values that lie evenly about their mean it is
    Student's interval.

    Formula: mean + se * w / (1 - a * w)^2 with w = a ± t and the acceleration a = sum(d^3) / (6 * sum(d^2)^1.5), of
    the deviations d from the mean.

    Source: T. DiCiccio and B. Efron, "More accurate confidence intervals in exponential families", Biometrika 79
    (1992); B. Efron and R. Tibshirani, "An introduction to the bootstrap" (1993), 14.4; T. Hesterberg, "What teachers
    should know about the bootstrap", The American Statistician 69 (2015): few values.
    """
    n = len(values)
    if n < 2:
        return None
    mean = fmean(values)
    deviations = [value - mean for value in values]
    squares = math.fsum(d * d for d in deviations)
    if squares <= n * _ALIKE**2:
        return _alike_interval(mean, n, low)
    a = math.fsum((d / math.sqrt(squares)) ** 3 for d in deviations) / 6
    se, t = math.sqrt(squares / (n - 1) / n), t_quantile(n - 1)
    below, above = (mean + se * w / (1 - a * w) ** 2 for w in (a - t, a + t))
    return (max(low, below), min(1.0, above))


def _alike_interval(mean: float, n: int, low: float) -> Interval:
    """Return the interval of ``n`` values that are all ``mean``, but for rounding in low..1."""
    share = min(1.0, max(low, mean))
    if low == 0:
        return wilson_interval(share * n, n)
    step = abs(share) or 1.0
    ends = bonett_price_interval(n * (share > 0), n * (share < 0), n)
    return (step * ends[0], step * ends[1])


def quantile(values: Sequence[float], q: float) -> float | None:
    """Return the ``q`` quantile (0..1) by linear interpolation; None for no values."""
    if not values:
        return None
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def t_quantile(df: int) -> float:
    """Return Student's t at 97.5 % for ``df`` degrees of freedom, to four digits.

    Exact for one and two, else the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), whose
    first terms are off by up to 0.5 % below six degrees; those are tabled.
    """
    tabled = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706)
    if df <= len(tabled):
        return tabled[df - 1]
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * df)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * df**4)
    )
