"""Matrices as tables, with what their cells show, their margins, and their rows' groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.matrix import FEW, Matrix, macro_average
from pytest_rageval.analysis.usage import LATENCY
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.lines import Line
from pytest_rageval.report.tables import ABSENT, INDENT, MOST, TOTALS, blocks_of, cell_text, value_text

__all__ = ["matrix_blocks", "matrix_columns", "matrix_lines", "matrix_title"]

ALL = "all"  # the margin of sums
MICRO = "micro"
MACRO = "macro"


def matrix_lines(matrices: Iterable[Matrix], width: int) -> Iterator[Line]:
    """Yield the matrices; what a cell shows is said where it first is shown."""
    said = set()
    for matrix in matrices:
        yield Line("")
        shows = _legend(matrix)
        notes = [*([shows] if shows not in said else ()), *_missing(matrix)]
        yield Line(ascii_safe(matrix_title(matrix)) + (f" - {'; '.join(notes)}" if notes else ""))
        said.add(shows)
        for block in matrix_blocks(matrix, width):
            yield Line("")
            yield from map(Line, block)
        sides = ((matrix.rows, "rows"), (matrix.cols, "columns"))
        if left_out := [f"{len(values) - MOST} more {side}" for values, side in sides if len(values) > MOST]:
            yield Line(f"... {' and '.join(left_out)} in results.json")


def matrix_blocks(matrix: Matrix, width: int) -> list[list[str]]:
    """Return the matrix as one table, or as several blocks of columns that keep within ``width``."""
    head, columns = matrix_columns(matrix)
    return blocks_of(head, columns, width)


def matrix_columns(matrix: Matrix) -> tuple[list[str], list[list[str]]]:
    """Return the column of the matrix's row labels, those of a group indented, and the columns of its cells, as text.

    The last columns and rows are the means of rows and columns: micro, over their cases, and macro, over their cells.
    Sums have one margin, of all. Of more than `MOST` rows or columns the first are shown; results.json has them all.
    """
    rows = list(_rows(matrix))
    lines = [_line(matrix, cells, margin) for _, cells, margin in rows]
    sums = matrix.metric in TOTALS
    names = [ALL] if sums else [MICRO, MACRO]
    head = [f"{matrix.row_facet} \\ {matrix.col_facet}", *(label for label, *_ in rows)]
    if len(matrix.rows) > 1:
        head += names
        lines.append(_line(matrix, matrix.col_margin, matrix.total))
        if not sums:
            ends = [macro_average(matrix.row_margin), matrix.total_macro]
            lines.append([_macro_text(matrix, value) for value in [*matrix.col_macro[:MOST], *ends]])
    columns = [list(column) for column in zip([*matrix.cols[:MOST], *names], *lines, strict=True)]
    return head, columns if len(matrix.cols) > 1 else columns[: len(matrix.cols)]


def _rows(matrix: Matrix) -> Iterator[tuple[str, Sequence[Cell | None], Cell]]:
    """Yield the label, the cells and the margin of the rows shown, those of a group indented under the group's own."""
    starts, at = {}, 0
    for group in matrix.groups:
        starts[at] = group
        at += group.n_rows
    indent = 2 * INDENT if starts else ""
    for at, name in enumerate(matrix.rows[:MOST]):
        if at in starts:
            yield starts[at].name, starts[at].cells, starts[at].margin
        yield indent + name, matrix.cells[at], matrix.row_margin[at]


def _line(matrix: Matrix, cells: Sequence[Cell | None], margin: Cell) -> list[str]:
    texts = [cell_text(cell, matrix.metric, signed=matrix.is_difference) for cell in [*cells[:MOST], margin]]
    return texts if matrix.metric in TOTALS else [*texts, _macro_text(matrix, macro_average(cells))]


def _macro_text(matrix: Matrix, value: float | None) -> str:
    return ABSENT if value is None else value_text(value, matrix.metric, signed=matrix.is_difference)


def matrix_title(matrix: Matrix) -> str:
    """Return what a matrix shows of whom."""
    system = matrix.system + (f" - {matrix.minus}" if matrix.minus else "")
    return f"{matrix.metric} by {matrix.row_facet} x {matrix.col_facet}" + (f" · {system}" if system else "")


def _missing(matrix: Matrix) -> list[str]:
    """Return what withholds a macro average."""
    n, n_cells = matrix.n_missing, len(matrix.rows) * len(matrix.cols)
    return [f"{n} of {n_cells} cells missing"] if n and matrix.metric not in TOTALS and n_cells > 1 else []


def _legend(matrix: Matrix) -> str:
    """Return what the cells show."""
    if matrix.metric in TOTALS:
        return "scored (n+k unscored)" if matrix.metric == "n" else "sum (n); ? where +k do not tell it"
    if matrix.metric in LATENCY:
        return f"seconds (n); * < {FEW} cases; +k not measured"
    if matrix.is_difference:
        return f"mean difference (n); * < {FEW} cases; ! interval without 0; +k without both"
    return f"mean (n); * < {FEW} cases; +k unscored"
