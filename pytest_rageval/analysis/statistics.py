"""Compute means with their counts and 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

from pytest_rageval.metrics.shared.proportion import LEVEL, wilson_interval

__all__ = [
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
]

Interval = tuple[float, float]

_Z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
_ROUNDING = 1e-9  # values closer than this differ only by rounding


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its counts and interval.

    Attributes:
        value: the mean; None if nothing was scored.
        n: number of values.
        ci95: its 95 % interval, within the range of the values; None if n is too small.
        n_cases: number of cases if cases were repeated; None if each case has one value.
        n_units: number of independent units of the cases, if fewer; else None.
        unit: the facet that joins cases to units, see `pytest_rageval.analysis.units.Units`; "" if there is none.
    """

    value: float | None
    n: int
    ci95: Interval | None
    n_cases: int | None = None
    n_units: int | None = None
    unit: str = ""


def mean_of(values: Sequence[float], *, binary: bool, low: float = 0.0) -> Mean:
    """Return the mean of ``values`` in low..1, with Wilson's interval for 0/1 values, else the bootstrap interval."""
    if not values:
        return Mean(None, 0, None)
    mean = fmean(values)
    if binary:
        return Mean(mean, len(values), wilson_interval(sum(values), len(values)))
    return Mean(mean, len(values), bootstrap_interval(values, low))


def mean_of_cases(cases: Sequence[Sequence[float]], *, binary: bool, low: float = 0.0) -> Mean:
    """Return the mean over cases; the value of a case is the mean of its repeats (at least one), in low..1.

    The unit of the interval is the case, because its repeats are not independent. The interval is Wilson's if values
    are 0 or 1 and every case has the same value in all its repeats. Else it is the bootstrap interval of the cases'
    means.
    """
    means = [fmean(values) for values in cases]
    steady = all(mean in (0.0, 1.0) for mean in means)
    mean = mean_of(means, binary=binary and steady, low=low)
    return Mean(mean.value, sum(map(len, cases)), mean.ci95, len(means))


def clustered_interval(units: Sequence[Sequence[float]], *, binary: bool, low: float = 0.0) -> Interval | None:
    """Return the 95 % interval of the mean of all values, if values of the same unit depend on each other.

    Formula: logit(m) ± t sqrt(v) / (m (1 - m)), mapped back to 0..1, with the mean m of all values, the jackknife
    variance v over K units, and Student's t for K - 1 degrees of freedom.

    If 0/1 values are equal within each unit and all units have the same size, each unit is a 0/1 value itself. The
    interval is then Wilson's for K - 1 values, because with K values its coverage is too low for 15 units (0.915).
    For differences (``low`` = -1) it is Bonett and Price's interval over units, see `changes_interval`. All these
    intervals cover at least 93 % from 15 units on, see tests/benchmarks/clusters.py.

    Range: ``low``..1; the interval contains the mean. None if there are too few units for an interval.

    Source: W. G. Cochran, "Sampling techniques" (1977), 6.3, the ratio of sums; N. Dean and M. Pagano, "Evaluating
    confidence interval methods for binomial proportions in clustered surveys", JSSAM 3 (2015): the logit.

    Args:
        units: the values of each unit, at least one.
        binary: whether the values are 0 or 1.
        low: the lowest possible value.
    """
    n, total, sums = len(units), sum(map(len, units)), [math.fsum(values) for values in units]
    whole = math.fsum(sums)
    mean = whole / total
    means = [each / len(values) for each, values in zip(sums, units, strict=True)]
    same_size = len({len(values) for values in units}) == 1
    if binary and all(each in (0.0, 1.0) for each in means) and (same_size or mean in (0.0, 1.0)):
        return wilson_interval(sum(means), n) if mean in (0.0, 1.0) else wilson_interval(mean * (n - 1), n - 1)
    if n < 2:
        return None
    if low < 0:
        # Scale each deviation by the relative size of its unit, because the mean is over values, not over units.
        spread = (len(values) * n / total * (each - mean) for values, each in zip(units, means, strict=True))
        return changes_interval(means if same_size else [mean + each for each in spread], mean, low)
    without = [(whole - each) / (total - len(values)) for each, values in zip(sums, units, strict=True)]
    variance = (n - 1) / n * math.fsum((each - mean) ** 2 for each in without)
    if variance <= _ROUNDING**2 / n or not 0 < mean < 1:
        return _equal_values_interval(mean, n, low)
    half = t_quantile(n - 1) * math.sqrt(variance) / (mean * (1 - mean))
    below, above = (0.5 + 0.5 * math.tanh((math.log(mean / (1 - mean)) + side) / 2) for side in (-half, half))
    return (max(0.0, min(mean, below)), min(1.0, max(mean, above)))


def changes_interval(changes: Sequence[float], mean: float, low: float = -1.0) -> Interval:
    """Return the 95 % interval of the mean change in ``low``..1, from one change for each of two or more units.

    Formula: c ± z sqrt((sum(d^2) + 2 s^2) / (n + 2) - c^2) / sqrt(n + 2), with the changes d and c = sum(d) / (n + 2).
    Two changes are added, one up and one down, of the typical size s = sum(d^2) / sum(abs(d)). If all changes are -1, 0
    or 1, it is Bonett and Price's interval.

    Source: D. G. Bonett and R. M. Price, see `bonett_price_interval`; the size of the added changes is ours.
    """
    n, squares, sizes = len(changes) + 2, math.fsum(d * d for d in changes), math.fsum(map(abs, changes))
    if sizes <= _ROUNDING * n:
        return _equal_values_interval(mean, n - 2, low)
    centre = math.fsum(changes) / n
    half = _Z * math.sqrt(((squares + 2 * (squares / sizes) ** 2) / n - centre**2) / n)
    return (max(low, min(mean, centre - half)), min(1.0, max(mean, centre + half)))


def bonett_price_interval(up: float, down: float, n: int) -> Interval:
    """Return the 95 % interval of the mean difference of ``n`` pairs of 0/1 values; ``up`` rise and ``down`` fall.

    Source: D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of binomial proportions
    based on paired data", JEBS 37 (2012).
    """
    one, other = (up + 1) / (n + 2), (down + 1) / (n + 2)
    half = _Z * math.sqrt((one + other - (one - other) ** 2) / (n + 2))
    return (max(-1.0, one - other - half), min(1.0, one - other + half))


def bootstrap_interval(values: Sequence[float], low: float = 0.0) -> Interval | None:
    """Return the 95 % bootstrap interval of the mean of ``values``, cut to low..1; None for n < 2.

    This is the ABC interval: the bias-corrected and accelerated bootstrap (BCa), computed from the values' moments
    instead of resamples. It needs no seed, does not depend on the order of the values, and is fast for a million
    values. With few values the bootstrap is too narrow. Student's quantile and the unbiased variance therefore replace
    the normal ones; for values that are symmetric about their mean, the result is Student's interval.

    Values that are all equal do not show their spread, and neither do resamples of them. They get another interval:
    in 0..1 Wilson's, because 0/1 values with the same mean spread most; in -1..1 Bonett and Price's, for n pairs that
    all change by this value.

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
    if squares <= n * _ROUNDING**2:
        return _equal_values_interval(mean, n, low)
    a = math.fsum((d / math.sqrt(squares)) ** 3 for d in deviations) / 6
    se, t = math.sqrt(squares / (n - 1) / n), t_quantile(n - 1)
    below, above = (mean + se * w / (1 - a * w) ** 2 for w in (a - t, a + t))
    return (max(low, below), min(1.0, above))


def _equal_values_interval(mean: float, n: int, low: float) -> Interval:
    """Return the interval of ``n`` values in low..1 that all equal ``mean`` up to rounding."""
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

    Up to five degrees the value is from a table, because the first terms of the Cornish-Fisher expansion (Abramowitz
    and Stegun 26.7.5) are wrong by up to 0.5 % there. Above five degrees the expansion is used.
    """
    table = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706)
    if df <= len(table):
        return table[df - 1]
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * df)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * df**4)
    )
