"""Tables of a metric or a pseudo-metric: two facets as rows and columns, and the curve over noise rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from pytest_rageval.analysis.cells import Cell, cell_of
from pytest_rageval.model.facets import sort_key
from pytest_rageval.model.outcome import Outcome

__all__ = ["FEW", "Matrix", "distinct", "macro_average", "matrix_of", "present"]

FEW = 5  # a cell with fewer scored cases than this is marked


@dataclass(frozen=True, slots=True)
class Matrix:
    """A metric over two facets.

    Attributes:
        metric: the metric's name, a pseudo-metric's, or `cells.GAIN`.
        row_facet, col_facet: the facets; a case without one stands under "-".
        rows, cols: their values, sorted (numbers as numbers).
        cells: ``cells[row][col]``; None where no case is.
        row_margin, col_margin: the same of each row and column: micro means.
        total: the same of all.
        system: the system whose cases these are, or "" for all.
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


def matrix_of(
    metric: str, binary: bool, outcomes: Sequence[Outcome], row_facet: str, col_facet: str, system: str = ""
) -> Matrix:
    """Return the matrix of ``metric`` over ``outcomes``; skipped ones are left out. Linear."""
    asked = [outcome for outcome in outcomes if outcome.status != "skipped"]
    places: dict[tuple[str, str], list[Outcome]] = {}
    by_row: dict[str, list[Outcome]] = {}
    by_col: dict[str, list[Outcome]] = {}
    for outcome in asked:
        row, col = outcome.facets.get(row_facet, "-"), outcome.facets.get(col_facet, "-")
        places.setdefault((row, col), []).append(outcome)
        by_row.setdefault(row, []).append(outcome)
        by_col.setdefault(col, []).append(outcome)
    rows, cols = sorted(by_row, key=sort_key), sorted(by_col, key=sort_key)

    def cell(group: Sequence[Outcome]) -> Cell:
        return cell_of(metric, binary, group)

    return Matrix(
        metric=metric,
        row_facet=row_facet,
        col_facet=col_facet,
        rows=tuple(rows),
        cols=tuple(cols),
        cells=tuple(tuple(cell(places[r, c]) if (r, c) in places else None for c in cols) for r in rows),
        row_margin=tuple(cell(by_row[row]) for row in rows),
        col_margin=tuple(cell(by_col[col]) for col in cols),
        total=cell(asked),
        system=system,
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
