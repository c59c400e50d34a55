"""The section on matrices: tables with legend, margins and groups of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.matrix import FEW, Matrix, macro_average
from pytest_rageval.analysis.usage import CALLS, LATENCY
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections.section import Screen, TerminalSection
from pytest_rageval.report.text.heat import Infos, levels_of, mark_cells, worst_lines
from pytest_rageval.report.text.lines import Line, wrap
from pytest_rageval.report.text.tables import ABSENT, INDENT, MAX_SHOWN, TOTALS, blocks_of, cell_text, value_text

__all__ = ["MATRICES", "CellText", "matrix_blocks", "matrix_legend", "matrix_lines", "matrix_rows", "matrix_title"]

ALL = "all"  # label of the margin of sums
MICRO = "micro"
MACRO = "macro"


class CellText(NamedTuple):
    """A table cell: its text, and the value that decides its heat level."""

    text: str
    value: float | None = None


def _lines(run: Run, screen: Screen) -> Iterator[Line]:
    infos, choice, matrices = run.plan.metrics, screen.choice, run.matrices(screen.choice)
    yield from matrix_lines([*matrices, *run.differences(choice), *run.gains(choice)], infos, screen.width)
    yield from worst_lines(matrices, infos)


MATRICES = TerminalSection(_lines, requested=lambda screen: screen.choice != MatrixChoice())


def matrix_lines(matrices: Iterable[Matrix], infos: Infos, width: int) -> Iterator[Line]:
    """Yield the matrices; each legend is printed once.

    Args:
        matrices: the matrices.
        infos: the properties of their metrics.
        width: columns of the terminal.
    """
    printed = set()
    for matrix in matrices:
        yield Line("")
        legend = matrix_legend(matrix)
        notes = [*([legend] if legend not in printed else ()), *_missing(matrix)]
        title = ascii_safe(matrix_title(matrix)) + (f" - {'; '.join(notes)}" if notes else "")
        yield from wrap(Line(title), width, between=" - ")
        printed.add(legend)
        level, first = levels_of(matrix, infos), 1
        rows = [[None if level is None or c.value is None else level(c.value) for c in row] for row in _table(matrix)]
        for block in matrix_blocks(matrix, width):
            yield Line("")
            yield from mark_cells(block, rows[1:], first)
            first += len(block[1].split()) - 1
        sides = ((matrix.rows, "rows"), (matrix.cols, "columns"))
        if left_out := [f"{len(values) - MAX_SHOWN} more {side}" for values, side in sides if len(values) > MAX_SHOWN]:
            yield Line(f"... {' and '.join(left_out)} in results.json")


def matrix_blocks(matrix: Matrix, width: int) -> list[list[str]]:
    """Return the matrix as one table, or as several blocks of columns that fit ``width``.

    The last columns and rows are means: micro over the cases of a row or column, macro over its cells. Sums have only
    ``all``. The table shows the first `MAX_SHOWN` rows and columns; results.json has all.
    """
    head, *columns = map(list, zip(*matrix_rows(matrix), strict=True))
    return blocks_of(head, columns, width)


def matrix_rows(matrix: Matrix) -> list[list[str]]:
    """Return the matrix of `matrix_blocks` as rows of texts; the first row is the head."""
    return [[shown.text for shown in row] for row in _table(matrix)]


def _table(matrix: Matrix) -> list[list[CellText]]:
    rows = list(_rows(matrix))
    names = [ALL] if matrix.metric in TOTALS else [MICRO, MACRO]
    lines = [[CellText(label), *_table_row(matrix, cells, margin)] for label, cells, margin in rows]
    if len(matrix.rows) > 1:
        lines.append([CellText(names[0]), *_table_row(matrix, matrix.col_margin, matrix.total)])
        if matrix.metric not in TOTALS:
            last_values = [macro_average(matrix.row_margin), matrix.total_macro]
            lines.append(
                [CellText(MACRO), *(_macro(matrix, value) for value in [*matrix.col_macro[:MAX_SHOWN], *last_values])]
            )
    head = [f"{matrix.row_facet} \\ {matrix.col_facet}", *matrix.cols[:MAX_SHOWN], *names]
    table = [[*map(CellText, head)], *lines]
    return table if len(matrix.cols) > 1 else [row[: 1 + len(matrix.cols)] for row in table]


def _rows(matrix: Matrix) -> Iterator[tuple[str, Sequence[Cell | None], Cell]]:
    """Yield label, cells and margin of each visible row; a group has a row of its own above its indented rows."""
    group_at, at = {}, 0
    for group in matrix.groups:
        group_at[at] = group
        at += group.n_rows
    indent = 2 * INDENT if group_at else ""
    for at, name in enumerate(matrix.rows[:MAX_SHOWN]):
        if at in group_at:
            yield group_at[at].name, group_at[at].cells, group_at[at].margin
        yield indent + name, matrix.cells[at], matrix.row_margin[at]


def _table_row(matrix: Matrix, cells: Sequence[Cell | None], margin: Cell) -> list[CellText]:
    row = [
        CellText(cell_text(cell, matrix.metric, signed=matrix.is_difference), None if cell is None else cell.mean)
        for cell in [*cells[:MAX_SHOWN], margin]
    ]
    return row if matrix.metric in TOTALS else [*row, _macro(matrix, macro_average(cells))]


def _macro(matrix: Matrix, value: float | None) -> CellText:
    text = ABSENT if value is None else value_text(value, matrix.metric, signed=matrix.is_difference)
    return CellText(text, value)


def matrix_title(matrix: Matrix) -> str:
    """Return ``accuracy by topic x task``, with the system if there are several."""
    system = matrix.system + (f" - {matrix.minus}" if matrix.minus else "")
    return f"{matrix.metric} by {matrix.row_facet} x {matrix.col_facet}" + (f" · {system}" if system else "")


def _missing(matrix: Matrix) -> list[str]:
    """Return a note on missing cells, which prevent a macro average; empty if no cell is missing."""
    n, n_cells = matrix.n_missing, len(matrix.rows) * len(matrix.cols)
    return [f"{n} of {n_cells} cells missing"] if n and matrix.metric not in TOTALS and n_cells > 1 else []


def matrix_legend(matrix: Matrix) -> str:
    """Return the legend of the cells: ``mean (n); * < 5 cases; +k unscored``."""
    if matrix.metric in TOTALS:
        return "scored (n+k unscored)" if matrix.metric == "n" else "sum (n); ? if +k answers report no usage"
    if matrix.metric in LATENCY:
        return f"seconds (n); * < {FEW} cases; +k not measured"
    if matrix.metric in CALLS:
        return f"calls of an answer (n); * < {FEW} cases; +k not known"
    if matrix.is_difference:
        return f"mean difference (n); * < {FEW} cases; ! interval without 0; +k without both"
    return f"mean (n); * < {FEW} cases; +k unscored"
