"""Tables of a metric or a pseudo-metric: two facets as rows and columns, and the curve over noise rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from pytest_rageval.analysis.cells import GAIN, Cell, cell_of, difference_of
from pytest_rageval.model.facets import above, place_of, sort_key
from pytest_rageval.model.outcome import Outcome

__all__ = ["FEW", "Group", "Matrix", "distinct", "macro_average", "matrix_of", "present"]

FEW = 5  # a cell with fewer scored cases than this is marked


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring rows that have one value of the facet above theirs.

    Attributes:
        name: that value; rows without one stand under "-".
        n_rows: how many rows they are.
        cells: their micro mean in each column; None where no case is.
        margin: the same of all columns.
    """

    name: str
    n_rows: int
    cells: tuple[Cell | None, ...]
    margin: Cell


@dataclass(frozen=True, slots=True)
class Matrix:
    """A metric over two facets.

    Attributes:
        metric: the metric's name, a pseudo-metric's, or `cells.GAIN`.
        row_facet, col_facet: the facets; a case without one stands under "-".
        rows, cols: their values, sorted (numbers as numbers); rows group by group, where there are any.
        cells: ``cells[row][col]``; None where no case is.
        row_margin, col_margin: the same of each row and column: micro means.
        total: the same of all.
        system: the system whose cases these are, or "" for all.
        groups: of rows whose facet ``topic`` has a facet ``topic_1`` above it, one for each value of that.
        minus: the system that ``system`` is compared with, case by case, where the cells are differences.
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
        """How many cells have no case, or none that was scored."""
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
    """Return the matrix of ``metric`` over ``outcomes``; skipped ones are left out. Linear.

    With ``minus`` the outcomes are those of two systems, and the cells how much higher the metric is under ``system``.
    """
    asked = [outcome for outcome in outcomes if outcome.status != "skipped"]
    grouped = present(above(row_facet), asked)
    places = [(*place_of(outcome.facets, row_facet), outcome.facets.get(col_facet, "-")) for outcome in asked]

    def cells(*by: int) -> dict[tuple[str, ...], Cell]:
        found: dict[tuple[str, ...], list[Outcome]] = {}
        for place, outcome in zip(places, asked, strict=True):
            found.setdefault(tuple(place[at] for at in by), []).append(outcome)
        return {key: cell(group) for key, group in found.items()}

    def cell(group: Sequence[Outcome]) -> Cell:
        return difference_of(metric, group, system) if minus else cell_of(metric, binary, group)

    inner, by_row, by_col = cells(0, 1, 2), cells(0, 1), cells(2)
    rows = sorted(by_row, key=lambda row: tuple(map(sort_key, row)))
    cols = sorted(by_col, key=lambda col: sort_key(*col))
    groups: tuple[Group, ...] = ()
    if grouped:
        of_group, across = cells(0), cells(0, 2)
        groups = tuple(
            Group(name, n, tuple(across.get((name, *col)) for col in cols), of_group[name,])
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
        total=cell(asked),
        system=system,
        groups=groups,
        minus=minus,
    )


def macro_average(cells: Sequence[Cell | None]) -> float | None:
    """Return the mean of the cells' means, each counted once; None where one is missing, or there is no cell."""
    means = [cell.mean for cell in cells if cell is not None and cell.mean is not None]
    return fsum(means) / len(means) if len(means) == len(cells) > 0 else None


def present(facet: str, outcomes: Sequence[Outcome]) -> bool:
    """Return whether any outcome carries ``facet``."""
    return any(facet in outcome.facets for outcome in outcomes)


def distinct(facet: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return the values of ``facet``, sorted (numbers as numbers)."""
    return tuple(sorted({o.facets[facet] for o in outcomes if facet in o.facets}, key=sort_key))
