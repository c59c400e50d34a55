"""Compute the fit: how much better a system scores than its row and its column predict."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum

from pytest_rageval.analysis.statistics import Interval, bootstrap_interval, clustered_interval
from pytest_rageval.analysis.systems.board import Board
from pytest_rageval.analysis.systems.grid import Grid, complete_subgrid
from pytest_rageval.model.facets import OF_SYSTEMS

__all__ = ["Effects", "Fit", "effects", "fit_of"]


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a table of means; together they add up to the table.

    Attributes:
        mean: mean of all cells.
        rows, cols: mean of each row and column, minus the mean of all cells.
        cells: each cell minus the mean of its row, minus the mean of its column, plus the mean of all cells.
    """

    mean: float
    rows: tuple[float, ...]
    cols: tuple[float, ...]
    cells: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """The effects of the largest complete part of a grid.

    Attributes:
        rows, cols: the facet values of its rows and columns.
        effects: its effects.
        intervals: the 95 % interval of each cell's effect, over independent units; None without an interval.
        n: number of cases that have a score in every cell; 0 if the columns have different cases.
    """

    rows: tuple[str, ...]
    cols: tuple[str, ...]
    effects: Effects
    intervals: tuple[tuple[Interval | None, ...], ...]
    n: int


def effects(cells: Sequence[Sequence[float]]) -> Effects:
    """Return the effects of a complete table."""
    rows = [fsum(row) / len(row) for row in cells]
    cols = [fsum(col) / len(col) for col in zip(*cells, strict=True)]
    mean = fsum(rows) / len(rows)
    return Effects(
        mean,
        tuple(row - mean for row in rows),
        tuple(col - mean for col in cols),
        tuple(
            tuple(value - row - col + mean for value, col in zip(line, cols, strict=True))
            for line, row in zip(cells, rows, strict=True)
        ),
    )


def fit_of(board: Board, grid: Grid) -> Fit | None:
    """Return the fit on the largest complete part of a grid; None if there is no such part.

    If rows and columns are both facets of systems, the fit is computed over the cases that have a score in every cell
    of that part. Otherwise the columns have different cases, and there are no intervals.
    """
    means = grid.means
    rows, cols = complete_subgrid([[mean is not None for mean in row] for row in means])
    if not rows:
        return None
    names = tuple(grid.rows[at] for at in rows), tuple(grid.cols[at] for at in cols)
    if {grid.row_facet, grid.col_facet} <= set(OF_SYSTEMS):
        scores = [[board.scores[grid.systems[row][col]] for col in cols] for row in rows]
        common = [key for key in board.facets if all(key in each for line in scores for each in line)]
        if not common:
            return None
        cases = [effects([[each[key] for each in line] for line in scores]) for key in common]
        whole = effects([[fsum(each[key] for key in common) / len(common) for each in line] for line in scores])
        units = [board.units[key] for key in common]
        intervals = tuple(
            tuple(_interval([case.cells[r][c] for case in cases], units) for c in range(len(cols)))
            for r in range(len(rows))
        )
        return Fit(*names, whole, intervals, len(common))
    values = [[mean for col in cols if (mean := means[row][col]) is not None] for row in rows]
    return Fit(*names, effects(values), tuple(tuple(None for _ in cols) for _ in rows), 0)


def _interval(values: Sequence[float], units: Sequence[Hashable]) -> Interval | None:
    if len(set(units)) == len(units):
        return bootstrap_interval(values, low=-1.0)
    grouped: dict[Hashable, list[float]] = {}
    for unit, value in zip(units, values, strict=True):
        grouped.setdefault(unit, []).append(value)
    return clustered_interval(list(grouped.values()), binary=False, low=-1.0)
