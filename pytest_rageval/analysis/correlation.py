"""Compute the rank correlation of two metrics: Kendall's tau-b and Spearman's rho.

Sources: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945); C. Spearman, "The proof and
measurement of association between two things", AJP 15 (1904), with average ranks; B. Efron, "Bootstrap methods: another
look at the jackknife", Annals of Statistics 7 (1979), the percentile interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.metrics.shared.proportion import LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.integer[Any]]
    """A row for each cell (a distinct pair of values) and a column for each resample: how often the cell was drawn."""

__all__ = ["FEWEST", "RankCorrelation", "rank_correlation", "tau_b_and_rho", "with_interval"]

FEWEST = 3
"""Fewest pairs of values for a correlation."""

MAX_RESAMPLES, MIN_RESAMPLES = 1_000, 100
MAX_COUNTS = 2_000_000  # limit of cells times resamples; above it, fewer resamples are drawn
BATCH = 100_000  # counts in one batch, which fit the processor's cache


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """The rank correlation of two metrics, in -1..1, or the reason why it is undefined.

    Attributes:
        n: number of cases with both values.
        tau_b: Kendall's tau-b; None if undefined.
        tau_b_ci95: its 95 % interval.
        rho: Spearman's rho; None if undefined.
        rho_ci95: its 95 % interval.
        reason: why both are undefined: "too_few" cases, or a "constant" metric; None if they are defined.
    """

    n: int
    tau_b: float | None = None
    tau_b_ci95: Interval | None = None
    rho: float | None = None
    rho_ci95: Interval | None = None
    reason: str | None = None


def rank_correlation(one: Sequence[float], other: Sequence[float], *, intervals: bool = True) -> RankCorrelation:
    """Return the rank correlation of two metrics over the same cases, one finite value for each case.

    The intervals are percentiles of 1,000 resamples of the cases, drawn with a fixed seed. With more than 2,000
    distinct pairs of values there are proportionally fewer resamples, at least 100. Resamples in which a metric is
    constant have no coefficient and are left out. ``intervals=False`` skips the intervals, which take most of the time.
    """
    n = len(one)
    if n < FEWEST:
        return RankCorrelation(n, reason="too_few")
    if min(one) == max(one) or min(other) == max(other):
        return RankCorrelation(n, reason="constant")
    import numpy as np

    _, x = np.unique(np.asarray(one, float), return_inverse=True)
    _, y = np.unique(np.asarray(other, float), return_inverse=True)
    width = int(y.max()) + 1
    cells, counts = np.unique(x * width + y, return_counts=True)
    x, y = np.divmod(cells, width)  # from here on x and y are ranks of cells, sorted by x and then by y
    resamples = min(MAX_RESAMPLES, max(MIN_RESAMPLES, MAX_COUNTS // len(cells))) if intervals else 0
    draws = np.random.default_rng(0).multinomial(n, counts / n, size=resamples)
    columns = max(16, BATCH // len(cells))
    tables = [counts[:, None], *(draws[at : at + columns].T for at in range(0, resamples, columns))]
    taus, rhos = zip(*(tau_b_and_rho(np.ascontiguousarray(table), x, y) for table in tables), strict=True)
    tau_b, tau_b_ci95 = with_interval(np.concatenate(taus))
    rho, rho_ci95 = with_interval(np.concatenate(rhos))
    return RankCorrelation(n, tau_b, tau_b_ci95, rho, rho_ci95)


def with_interval(values: NDArray[np.floating[Any]]) -> tuple[float, Interval | None]:
    """Return the first value and the 95 % interval of the others, which come from resamples; NaN is left out."""
    import numpy as np

    resampled = values[1:][np.isfinite(values[1:])]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail)) if resampled.size else (None, None)
    return float(values[0]), None if low is None or high is None else (float(low), float(high))


def tau_b_and_rho(table: Counts, x: Counts, y: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return tau-b and rho of each column of a table.

    Tau-b is (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y); rho is Pearson's correlation of
    the average ranks. Both are NaN for a column with a single x or a single y.

    Args:
        table: how often each cell occurs in each column; a cell is a distinct pair of values.
        x: the rank of the first value of each cell, from 0; cells are sorted by ``x`` and then by ``y``.
        y: the rank of the second value of each cell.
    """
    n = table.sum(axis=0)
    groups = [_grouped(table, each) for each in (x, y)]
    pairs = n * (n - 1) // 2
    untied = [pairs - _pairs(each) for each in groups]
    net = untied[0] + untied[1] - pairs + _pairs(table) - 2 * _discordant(table, y)
    ranks = [each.cumsum(axis=0) - (each - 1) / 2 - (n + 1) / 2 for each in groups]
    spread = [(each * rank**2).sum(axis=0) for each, rank in zip(groups, ranks, strict=True)]
    together = (table * ranks[0][x] * ranks[1][y]).sum(axis=0)
    return _coefficient(net.astype(float), untied[0].astype(float) * untied[1]), _coefficient(
        together, spread[0] * spread[1]
    )


def _discordant(table: Counts, y: Counts) -> Counts:
    """Return the number of discordant pairs of each column: pairs in which the lower x has the higher y.

    The loop goes over the bits of y. A pair is counted at the highest bit in which its two y differ, among cells that
    share all higher bits. It is discordant if the cell with a 1 comes before the cell with a 0, because cells are
    sorted by x and then by y.
    """
    import numpy as np

    discordant = np.zeros(table.shape[1], np.int64)
    for bit in range(int(y.max()).bit_length()):
        order = np.argsort(y >> (bit + 1), kind="stable")
        high, is_one = y[order] >> (bit + 1), (y[order] >> bit) & 1 == 1
        ones, zeros = order[is_one], order[~is_one]
        drawn = np.concatenate([np.zeros_like(table[:1]), table[ones].cumsum(axis=0)])  # cumulative counts of the ones
        before = is_one.cumsum()[~is_one]  # number of ones before each zero
        earlier = np.searchsorted(high[is_one], high[~is_one])  # number of ones before the zero's group
        discordant += ((drawn[before] - drawn[earlier]) * table[zeros]).sum(axis=0)
    return discordant


def _grouped(table: Counts, values: Counts) -> Counts:
    """Return the sum of the cells of each value, in the order of the values; each value must occur in a cell."""
    import numpy as np

    order = np.argsort(values, kind="stable")
    return np.add.reduceat(table[order], np.flatnonzero(np.diff(values[order], prepend=-1)), axis=0)


def _pairs(counts: Counts) -> Counts:
    """Return for each column the number of pairs of cases that are in the same row."""
    pairs: Counts = (counts * (counts - 1) // 2).sum(axis=0)
    return pairs


def _coefficient(numerator: NDArray[np.float64], square: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numerator / sqrt(square), cut to -1..1; NaN if undefined."""
    import numpy as np

    root = np.sqrt(square, where=square > 0, out=np.full_like(square, np.nan))
    ratio: NDArray[np.float64] = np.clip(numerator / root, -1.0, 1.0)
    return ratio
