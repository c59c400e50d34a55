"""Matrices and curves as text tables that keep within a terminal's width."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.analysis.cells import GAIN, Cell, cell_of
from pytest_rageval.analysis.matrix import FEW, Matrix, distinct, macro_average
from pytest_rageval.analysis.usage import LATENCY
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.lines import dollars

__all__ = ["MOST", "blocks_of", "curve_blocks", "legend", "matrix_blocks", "table_lines"]

ABSENT = "–"
ALL = "all"
MACRO = "macro"
MOST = 100  # rows and columns that a terminal is given


_TOTALS = ("cost_usd", "tokens", "n")


def legend(metric: str) -> str:
    """Return what the cells of a metric's or a pseudo-metric's matrix show."""
    if metric in _TOTALS:
        return "scored (n+k unscored)" if metric == "n" else "sum (n); ? where +k do not tell it"
    if metric in LATENCY:
        return f"seconds (n); * < {FEW} cases; +k not measured"
    if metric == GAIN:
        return f"mean difference (n); * < {FEW} cases; +k without both"
    return f"mean (n); * < {FEW} cases; +k unscored"


def matrix_blocks(matrix: Matrix, width: int) -> list[list[str]]:
    """Return the matrix as one table, or as several blocks of columns that keep within ``width``.

    The last column and the last row are the micro means of rows and columns; where there are several datasets, their
    macro average follows, as BEIR and RaLLe print it. Of more than `MOST` rows or columns the first are shown;
    results.json has them all.
    """
    shown = range(min(len(matrix.rows), MOST))
    metric = matrix.metric
    head = [f"{matrix.row_facet} \\ {matrix.col_facet}", *(matrix.rows[at] for at in shown), ALL]
    columns = [
        [col, *(_cell_text(matrix.cells[row][at], metric) for row in shown), _cell_text(matrix.col_margin[at], metric)]
        for at, col in enumerate(matrix.cols[:MOST])
    ]
    if len(matrix.cols) > 1:
        columns.append(
            [ALL, *(_cell_text(matrix.row_margin[row], metric) for row in shown), _cell_text(matrix.total, metric)]
        )
        if matrix.col_facet == "dataset" and metric not in _TOTALS:
            per_row = (_macro_text(matrix.cells[row], metric) for row in shown)
            columns.append([MACRO, *per_row, _macro_text(matrix.col_margin, metric)])
    if len(matrix.rows) == 1:
        head.pop()
        columns = [column[:-1] for column in columns]
    elif matrix.row_facet == "dataset" and metric not in _TOTALS:
        head.append(MACRO)
        by_column = [*zip(*matrix.cells, strict=True)][:MOST]
        by_column += [matrix.row_margin] * (len(columns) - len(by_column))  # of "all" and of "macro"
        for column, cells in zip(columns, by_column, strict=True):
            column.append(_macro_text(cells, metric))
    return blocks_of(head, columns, width)


def curve_blocks(curves: Sequence[tuple[str, bool, Sequence[Outcome]]], metric: str, width: int) -> list[list[str]]:
    """Return a metric at each noise rate, one row a testbed, with the drop from the lowest rate to the highest.

    Args:
        curves: (label, whether the metric is a rate, outcomes) of each testbed.
        metric: the metric.
        width: columns of the terminal.
    """
    rates = distinct("noise_rate", [outcome for *_, group in curves for outcome in group])
    cells = [[_at_rate(metric, binary, group, rate) for rate in rates] for _, binary, group in curves]
    head = ["testbed \\ noise_rate", *(label for label, *_ in curves)]
    columns = [[rate, *(_cell_text(row[at], metric) for row in cells)] for at, rate in enumerate(rates)]
    columns.append(["change", *(_drop(row) for row in cells)])
    return blocks_of(head, columns, width)


def blocks_of(head: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Return tables of as many columns as fit, each with the head; a block holds at least one column."""
    blocks: list[list[str]] = []
    at = 0
    while at < len(columns):
        fitting, taken = _table([head, columns[at]]), 1
        while at + taken < len(columns):
            wider = _table([head, *columns[at : at + taken + 1]])
            if _width(wider) > width:
                break
            fitting, taken = wider, taken + 1
        blocks.append(fitting)
        at += taken
    return blocks


def table_lines(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return rows (the first is the head) as aligned lines; the first ``left`` columns to the left."""
    from tabulate import tabulate

    safe = [[ascii_safe(text) for text in row] for row in rows]
    align = ["left" if at < left else "right" for at in range(len(safe[0]))]
    text = tabulate(safe[1:], headers=safe[0], tablefmt="simple", disable_numparse=True, colalign=align)
    return [line.rstrip() for line in text.splitlines()]


def _at_rate(metric: str, binary: bool, group: Sequence[Outcome], rate: str) -> Cell | None:
    mine = [outcome for outcome in group if outcome.facets.get("noise_rate") == rate]
    return cell_of(metric, binary, mine) if mine else None


def _drop(cells: Sequence[Cell | None]) -> str:
    means = [cell.mean for cell in cells if cell is not None and cell.mean is not None]
    return f"{means[-1] - means[0]:+.2f}" if len(means) > 1 else ABSENT


def _table(columns: Sequence[Sequence[str]]) -> list[str]:
    return table_lines(list(zip(*columns, strict=True)))


def _width(lines: Sequence[str]) -> int:
    from wcwidth import wcswidth

    return max(wcswidth(line) for line in lines)


def _cell_text(cell: Cell | None, metric: str) -> str:
    """Return ``0.91 (20)``; ``*`` marks few cases, ``+2`` counts unscored ones, ``–`` is no case at all."""
    if cell is None:
        return ABSENT
    value = "?" if cell.mean is None else _value_text(cell.mean, metric)
    n = cell.n if cell.n_cases is None else cell.n_cases
    few = "*" if n < FEW and metric not in _TOTALS else ""
    unscored = f"+{cell.n_unscored}" if cell.n_unscored else ""
    return f"{value} ({cell.n}{unscored}){few}"


def _macro_text(cells: Sequence[Cell | None], metric: str) -> str:
    mean = macro_average(cells)
    return ABSENT if mean is None else _value_text(mean, metric)


def _value_text(value: float, metric: str) -> str:
    if metric == "cost_usd":
        return dollars(value)
    if metric in _TOTALS:
        return f"{value:,.0f}"
    return f"{value:+.2f}" if metric == GAIN else f"{value:.2f}"
