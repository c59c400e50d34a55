"""Tabulate a metric or pseudo-metric over two facets; a parent facet groups the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from pytest_rageval.analysis.cells import GAIN, Cell, cell_of, difference_of
from pytest_rageval.model.facets import parent_facet, place_of, sort_key
from pytest_rageval.model.outcome import Outcome

__all__ = ["MIN_CELL_CASES", "Group", "Matrix", "facet_values", "has_facet", "macro_average", "matrix_of"]

MIN_CELL_CASES = 5  # a cell with fewer scored cases than this is marked


@dataclass(frozen=True, slots=True)
class Group:
    """Adjacent rows with the same value of the parent facet.

    Attributes:
        name: the value of the parent facet; "-" for rows without one.
        n_rows: number of rows.
        cells: micro mean of the rows in each column; None without cases.
        margin: micro mean of the rows over all columns.
    """

    name: str
    n_rows: int
    cells: tuple[Cell | None, ...]
    margin: Cell


@dataclass(frozen=True, slots=True)
class Matrix:
    """A metric over two facets.

    Attributes:
        metric: the name of a metric or pseudo-metric, or `cells.GAIN`, the gain from retrieval.
        row_facet, col_facet: the facets; a case without one counts under "-".
        rows, cols: the values of the facets, sorted (numbers as numbers); rows are sorted by group first.
        cells: ``cells[row][col]``; None without cases.
        row_margin, col_margin: micro means of each row and column.
        total: micro mean of all cases.
        system: the system of the cases, or "" for all.
        groups: one group for each value of the row facet's parent, such as ``topic_1`` for ``topic``; () if no case
            has the parent facet.
        minus: if the cells are differences, the system that is subtracted from ``system``, case by case; else "".
    """

    metric: str
    row_facet: str
    col_facet: str
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    row_margin: tuple[Cell, ...]
    col_margin: tuple[Cell, ...]
    total: Cell
    system: str = ""
    groups: tuple[Group, ...] = ()
    minus: str = ""

    @property
    def is_difference(self) -> bool:
        """Whether the cells are differences, in -1..1."""
        return bool(self.minus) or self.metric == GAIN

    @property
    def n_missing(self) -> int:
        """Number of cells without a scored case."""
        return sum(cell is None or cell.mean is None for row in self.cells for cell in row)

    @property
    def row_macro(self) -> tuple[float | None, ...]:
        """The macro average of each row's cells."""
        return tuple(map(macro_average, self.cells))

    @property
    def col_macro(self) -> tuple[float | None, ...]:
        """The macro average of each column's cells."""
        return tuple(macro_average([row[at] for row in self.cells]) for at in range(len(self.cols)))

    @property
    def total_macro(self) -> float | None:
        """The macro average of all cells."""
        return macro_average([cell for row in self.cells for cell in row])


def matrix_of(
    metric: str,
    binary: bool,
    outcomes: Sequence[Outcome],
    row_facet: str,
    col_facet: str,
    system: str = "",
    minus: str = "",
) -> Matrix:
    """Return the matrix of ``metric`` over outcomes, in linear time; skipped outcomes are left out.

    With ``minus`` the outcomes are of two systems, and each cell is the metric of ``system`` minus that of the other.
    """
    completed = [outcome for outcome in outcomes if outcome.status != "skipped"]
    has_groups = has_facet(parent_facet(row_facet), completed)
    known: dict[tuple[str, str, str], tuple[str, str, str]] = {}  # outcomes share tuples, which saves memory
    places = [
        known.setdefault(place, place)
        for outcome in completed
        for place in [(*place_of(outcome.facets, row_facet), outcome.facets.get(col_facet, "-"))]
    ]

    def cells(*by: int) -> dict[tuple[str, ...], Cell]:
        keys = {place: tuple(place[at] for at in by) for place in known}
        by_place: dict[tuple[str, ...], list[Outcome]] = {}
        for place, outcome in zip(places, completed, strict=True):
            by_place.setdefault(keys[place], []).append(outcome)
        return {key: cell(group) for key, group in by_place.items()}

    def cell(group: Sequence[Outcome]) -> Cell:
        return difference_of(metric, group, system) if minus else cell_of(metric, binary, group)

    inner, by_row, by_col = cells(0, 1, 2), cells(0, 1), cells(2)
    rows = sorted(by_row, key=lambda row: tuple(map(sort_key, row)))
    cols = sorted(by_col, key=lambda col: sort_key(*col))
    groups: tuple[Group, ...] = ()
    if has_groups:
        by_group, by_group_and_col = cells(0), cells(0, 2)
        groups = tuple(
            Group(name, n, tuple(by_group_and_col.get((name, *col)) for col in cols), by_group[name,])
            for name, n in Counter(name for name, _ in rows).items()
        )
    return Matrix(
        metric=metric,
        row_facet=row_facet,
        col_facet=col_facet,
        rows=tuple(row for _, row in rows),
        cols=tuple(col for (col,) in cols),
        cells=tuple(tuple(inner.get((*row, *col)) for col in cols) for row in rows),
        row_margin=tuple(by_row[row] for row in rows),
        col_margin=tuple(by_col[col] for col in cols),
        total=cell(completed),
        system=system,
        groups=groups,
        minus=minus,
    )


def macro_average(cells: Sequence[Cell | None]) -> float | None:
    """Return the mean of the cells' means, each counted once; None if a mean is missing or there are no cells."""
    means = [cell.mean for cell in cells if cell is not None and cell.mean is not None]
    return fsum(means) / len(means) if len(means) == len(cells) > 0 else None


def has_facet(facet: str, outcomes: Sequence[Outcome]) -> bool:
    """Return whether any outcome has ``facet``."""
    return any(facet in outcome.facets for outcome in outcomes)


def facet_values(facet: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return the values of ``facet``, sorted (numbers as numbers)."""
    return tuple(sorted({o.facets[facet] for o in outcomes if facet in o.facets}, key=sort_key))
