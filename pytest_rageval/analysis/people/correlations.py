"""Correlate a metric with people's values: Pearson's r, Spearman's rho and Kendall's tau-b.

Sources: K. Pearson, "Note on regression and inheritance in the case of two parents", Proceedings of the Royal Society
58 (1895); for the rank correlations see `pytest_rageval.analysis.correlation`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rageval.analysis.correlation import FEWEST, tau_b_and_rho, with_interval
from pytest_rageval.analysis.people.agreement import Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.floating[Any]]
    Counts = NDArray[np.integer[Any]]

__all__ = ["Correlations", "correlations"]

TOO_FEW, ONE_VALUE = "too_few", "one_value"
MAX_RESAMPLES, MIN_RESAMPLES = 1_000, 100
MAX_COUNTS = 2_000_000  # limit of values times resamples; above it, fewer resamples are drawn
BATCH = 200_000  # counts in one batch


@dataclass(frozen=True, slots=True)
class Correlations:
    """How far two sequences of values rise and fall together, each in -1..1.

    Attributes:
        n: number of pairs of values.
        pearson: Pearson's r of the values.
        spearman: Spearman's rho, which compares the average ranks of the values.
        kendall: Kendall's tau-b, which compares the order of every two pairs.
    """

    n: int
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate


def correlations(one: Sequence[float], other: Sequence[float], units: Sequence[Hashable] | None = None) -> Correlations:
    """Return the correlations of two sequences of finite values, in the same order.

    All are undefined with fewer than three pairs ("too_few"), or if a sequence has a single value ("one_value"). The
    intervals are percentiles of 1,000 resamples of the units, drawn with a fixed seed. With many different units there
    are fewer resamples, at least 100. Resamples in which a correlation is undefined are left out.

    Args:
        one: the first values.
        other: the second values.
        units: the independent unit of each pair; None makes each pair its own unit.
    """
    n = len(one)
    if n < FEWEST or min(one) == max(one) or min(other) == max(other):
        none = Estimate(None, reason=TOO_FEW if n < FEWEST else ONE_VALUE)
        return Correlations(n, none, none, none)
    import numpy as np

    x_values, x = np.unique(np.asarray(one, float), return_inverse=True)
    y_values, y = np.unique(np.asarray(other, float), return_inverse=True)
    width = len(y_values)
    cells, cell = np.unique(x * width + y, return_inverse=True)
    cell_indices = np.divmod(cells, width)
    values = x_values[cell_indices[0]] - x_values.mean(), y_values[cell_indices[1]] - y_values.mean()
    by_table = []
    for table in _tables(cell, len(cells), range(n) if units is None else units):
        tau_b, rho = tau_b_and_rho(table, *cell_indices)
        by_table.append((np.where(np.isnan(tau_b), np.nan, _pearson(table, *values)), rho, tau_b))
    pearson, spearman, kendall = (_estimate(np.concatenate(each)) for each in zip(*by_table, strict=True))
    return Correlations(n, pearson, spearman, kendall)


def _tables(cell: Counts, n_cells: int, units: Sequence[Hashable]) -> Iterator[Counts]:
    """Yield tables of counts with a row for each cell; a cell is one (x, y) pair of values.

    The first table has one column, which counts all pairs. The columns of all further tables are resamples. Units with
    equal cells are drawn together: a resample draws how often they occur. This is fast for a million pairs with few
    different values.
    """
    import numpy as np

    of_unit: dict[Hashable, list[int]] = {}
    for unit, at in zip(units, cell.tolist(), strict=True):
        of_unit.setdefault(unit, []).append(at)
    kinds = Counter(tuple(sorted(each)) for each in of_unit.values())
    counts = np.array(list(kinds.values()))
    kind_of = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
    cell_of = np.concatenate([np.array(kind) for kind in kinds])
    order = np.argsort(cell_of, kind="stable")
    starts = np.searchsorted(cell_of[order], np.arange(n_cells))
    kind_of = kind_of[order]

    def table(draws: Counts) -> Counts:
        return np.ascontiguousarray(np.add.reduceat(draws[:, kind_of], starts, axis=1).T)

    yield table(counts[None, :])
    if len(of_unit) < 2:
        return
    resamples = min(MAX_RESAMPLES, max(MIN_RESAMPLES, MAX_COUNTS // len(kind_of)))
    generator, step = np.random.default_rng(0), max(1, BATCH // len(kind_of))
    for at in range(0, resamples, step):
        size = min(step, resamples - at)
        yield table(generator.multinomial(len(of_unit), counts / len(of_unit), size=size))


def _pearson(table: Counts, x: Numbers, y: Numbers) -> Numbers:
    """Return Pearson's r of each column; it is meaningless for a column with a single x or a single y."""
    import numpy as np

    n = table.sum(axis=0)
    x, y = x[:, None], y[:, None]
    x = x - (table * x).sum(axis=0) / n
    y = y - (table * y).sum(axis=0) / n
    spread = (table * x * x).sum(axis=0) * (table * y * y).sum(axis=0)
    root = np.sqrt(spread, where=spread > 0, out=np.full_like(spread, np.nan))
    r: Numbers = np.clip((table * x * y).sum(axis=0) / root, -1.0, 1.0)
    return r


def _estimate(values: Numbers) -> Estimate:
    value, interval = with_interval(values)
    return Estimate(value, interval)
