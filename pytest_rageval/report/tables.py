"""Matrices and curves as text tables that keep within a terminal's width."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.analysis.matrix import FEW, Cell, Matrix, cell_of, distinct
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.outcome import Outcome

__all__ = ["curve_table", "matrix_blocks", "table_lines"]

ABSENT = "–"
ALL = "all"


def matrix_blocks(matrix: Matrix, width: int) -> list[list[str]]:
    """Return the matrix as one table, or as several blocks of columns, each at most ``width`` cells wide.

    The last column and the last row are the micro means. A block holds at least one column.
    """
    head = [f"{matrix.row_facet} \\ {matrix.col_facet}", *matrix.rows, ALL]
    columns = [
        [col, *(_cell_text(row[at]) for row in matrix.cells), _cell_text(matrix.col_margin[at])]
        for at, col in enumerate(matrix.cols)
    ]
    if len(matrix.cols) > 1:
        columns.append([ALL, *(_cell_text(cell) for cell in matrix.row_margin), _cell_text(matrix.total)])
    if len(matrix.rows) == 1:
        head.pop()
        columns = [column[:-1] for column in columns]
    blocks: list[list[str]] = []
    at = 0
    while at < len(columns):
        fitting = _table([head, columns[at]])
        taken = 1
        while at + taken < len(columns):
            wider = _table([head, *columns[at : at + taken + 1]])
            if _width(wider) > width:
                break
            fitting, taken = wider, taken + 1
        blocks.append(fitting)
        at += taken
    return blocks


def curve_table(rows: Sequence[tuple[str, str, bool, Sequence[Outcome]]]) -> list[str]:
    """Return one line a testbed: its metric at each noise rate, and the drop from the lowest to the highest.

    Args:
        rows: (label, metric, whether it is a rate, outcomes) of each testbed.
    """
    rates = distinct("noise_rate", [outcome for *_, group in rows for outcome in group])
    table = [["testbed", "metric", *(f"noise {rate}" for rate in rates), "drop"]]
    for label, metric, binary, group in rows:
        cells = [
            cell_of(metric, binary, mine) if mine else None
            for rate in rates
            for mine in [[outcome for outcome in group if outcome.facets.get("noise_rate") == rate]]
        ]
        means = [cell.mean for cell in cells if cell is not None and cell.mean is not None]
        drop = f"{means[0] - means[-1]:+.2f}" if len(means) > 1 else ABSENT
        table.append([label, metric, *(_cell_text(cell) for cell in cells), drop])
    return table_lines(table)


def table_lines(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return rows (the first is the head) as aligned lines; the first ``left`` columns to the left."""
    from tabulate import tabulate

    safe = [[ascii_safe(text) for text in row] for row in rows]
    align = ["left" if at < left else "right" for at in range(len(safe[0]))]
    text = tabulate(
        safe[1:], headers=safe[0], tablefmt="simple", disable_numparse=True, colalign=align, headersglobalalign="left"
    )
    return [line.rstrip() for line in text.splitlines()]


def _table(columns: Sequence[Sequence[str]]) -> list[str]:
    return table_lines(list(zip(*columns, strict=True)))


def _width(lines: Sequence[str]) -> int:
    from wcwidth import wcswidth

    return max(wcswidth(line) for line in lines)


def _cell_text(cell: Cell | None) -> str:
    """Return ``0.91 (20)``; ``*`` marks few cases, ``+2`` counts unscored ones, ``–`` is no case at all."""
    if cell is None:
        return ABSENT
    mean = "?" if cell.mean is None else f"{cell.mean:.2f}"
    few = "*" if cell.n < FEW else ""
    unscored = f"+{cell.n_unscored}" if cell.n_unscored else ""
    return f"{mean} ({cell.n}{unscored}){few}"
