"""How two metrics of the same cases go together: Kendall's tau-b and Spearman's rho, with bootstrap intervals.

Sources: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945); C. Spearman, "The proof and
measurement of association between two things", AJP 15 (1904), with average ranks; B. Efron, "Bootstrap methods: another
look at the jackknife", Annals of Statistics 7 (1979), the percentile interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rageval.analysis.statistics import LEVEL, Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.integer[Any]]
    """Rows of cells, columns of resamples: how often each distinct pair of values was drawn."""

__all__ = ["RankCorrelation", "rank_correlation"]

FEWEST = 3
MOST, LEAST = 1_000, 100  # resamples
COUNTS = 2_000_000  # cells times resamples, beyond which there are fewer resamples
AT_A_TIME = 100_000  # counts that are worked on at once: they fit the cache of a processor


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """The rank correlation of two metrics, in -1..1, or why there is none.

    Attributes:
        n: how many cases have both values.
        tau_b: Kendall's tau-b; None where it is undefined.
        tau_b_ci95: its 95 % interval.
        rho: Spearman's rho; None where it is undefined.
        rho_ci95: its 95 % interval.
        reason: why both are undefined: "too_few" cases, or one of the metrics is "constant"; None where they are not.
    """

    n: int
    tau_b: float | None = None
    tau_b_ci95: Interval | None = None
    rho: float | None = None
    rho_ci95: Interval | None = None
    reason: str | None = None


def rank_correlation(one: Sequence[float], other: Sequence[float], *, intervals: bool = True) -> RankCorrelation:
    """Return the rank correlation of two metrics over the same cases, one value a case, finite.

    The intervals are percentiles of 1,000 resamples of the cases, always the same ones; of more than 2,000 distinct
    pairs of values in proportion fewer, but 100. Resamples in which a metric is constant have no coefficient and are
    left out. Without ``intervals``, which take nearly all of the time, both are None.
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
    x, y = np.divmod(cells, width)  # of the cells from here on, by x and then by y
    resamples = min(MOST, max(LEAST, COUNTS // len(cells))) if intervals else 0
    draws = np.random.default_rng(0).multinomial(n, counts / n, size=resamples)
    columns = max(16, AT_A_TIME // len(cells))
    tables = [counts[:, None], *(draws[at : at + columns].T for at in range(0, resamples, columns))]
    taus, rhos = zip(*(_tau_b_and_rho(np.ascontiguousarray(table), x, y) for table in tables), strict=True)
    tau_b, tau_b_ci95 = _told(np.concatenate(taus))
    rho, rho_ci95 = _told(np.concatenate(rhos))
    return RankCorrelation(n, tau_b, tau_b_ci95, rho, rho_ci95)


def _told(values: NDArray[np.float64]) -> tuple[float, Interval | None]:
    """Return the first value, which is of all cases, and the percentiles of the others that are defined."""
    import numpy as np

    drawn = values[1:][np.isfinite(values[1:])]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail)) if drawn.size else (None, None)
    return float(values[0]), None if low is None or high is None else (float(low), float(high))


def _tau_b_and_rho(table: Counts, x: Counts, y: Counts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return tau-b and rho of each column.

    Tau-b is (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y); rho is Pearson's correlation of
    the average ranks.
    """
    n = int(table[:, 0].sum())
    groups = [_grouped(table, each) for each in (x, y)]
    pairs = n * (n - 1) // 2
    untied = [pairs - _pairs(each) for each in groups]
    net = untied[0] + untied[1] - pairs + _pairs(table) - 2 * _discordant(table, y)
    ranks = [each.cumsum(axis=0) - (each - 1) / 2 - (n + 1) / 2 for each in groups]
    spread = [(each * rank**2).sum(axis=0) for each, rank in zip(groups, ranks, strict=True)]
    together = (table * ranks[0][x] * ranks[1][y]).sum(axis=0)
    return _divided(net.astype(float), untied[0].astype(float) * untied[1]), _divided(together, spread[0] * spread[1])


def _discordant(table: Counts, y: Counts) -> Counts:
    """Return the weight of the discordant pairs of each column: with the lesser x the greater y.

    Two cells differ first in one bit of y, so that each pair is counted at that bit, among the cells that are alike in
    all higher ones: those with a 1 before those with a 0. Cells are in the order of x and, within one x, of y.
    """
    import numpy as np

    found = np.zeros(table.shape[1], np.int64)
    for bit in range(int(y.max()).bit_length()):
        order = np.argsort(y >> (bit + 1), kind="stable")
        high, is_one = y[order] >> (bit + 1), (y[order] >> bit) & 1 == 1
        ones, zeros = order[is_one], order[~is_one]
        drawn = np.concatenate([np.zeros_like(table[:1]), table[ones].cumsum(axis=0)])  # of the first ones, how often
        before = is_one.cumsum()[~is_one]  # how many ones are before each zero, and before its group
        earlier = np.searchsorted(high[is_one], high[~is_one])
        found += ((drawn[before] - drawn[earlier]) * table[zeros]).sum(axis=0)
    return found


def _grouped(table: Counts, values: Counts) -> Counts:
    """Return the sums of the cells that share a value, in the order of the values, each of which some cell has."""
    import numpy as np

    order = np.argsort(values, kind="stable")
    return np.add.reduceat(table[order], np.flatnonzero(np.diff(values[order], prepend=-1)), axis=0)


def _pairs(counts: Counts) -> Counts:
    """Return how many pairs each column has within its rows."""
    pairs: Counts = (counts * (counts - 1) // 2).sum(axis=0)
    return pairs


def _divided(part: NDArray[np.float64], square: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return part / sqrt(square) within -1..1, and NaN where that is undefined."""
    import numpy as np

    root = np.sqrt(square, where=square > 0, out=np.full_like(square, np.nan))
    divided: NDArray[np.float64] = np.clip(part / root, -1.0, 1.0)
    return divided
