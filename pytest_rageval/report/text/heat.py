"""Rate the cells of a matrix with heat levels, from worst to best, and list the worst cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.gates import PSEUDO_METRICS
from pytest_rageval.analysis.matrix import MIN_CELL_CASES, Matrix
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.text.lines import Line, Mark, interval
from pytest_rageval.report.text.tables import TOTALS, value_text

__all__ = ["LEVELS", "levels_of", "mark_cells", "worst_lines"]

LEVELS = 5
"""Number of heat levels: from 0 (worst) to 4."""

WORST = 5  # worst cells to list, if there are at least twice as many cells

Infos = Mapping[str, MetricInfo]


def levels_of(matrix: Matrix, infos: Infos) -> Callable[[float], int] | None:
    """Return a function from value to level; None for a matrix whose values are neither good nor bad.

    Values in 0..1 have the same levels in every matrix. Other values are scaled from the lowest to the highest value of
    the matrix; differences are scaled symmetrically around 0.
    """
    values = [cell.mean for row in matrix.cells for cell in row if cell is not None and cell.mean is not None]
    if matrix.metric == "n" or not values:
        return None
    low, high = min(values), max(values)
    if matrix.is_difference:
        most = max(-low, high, 0.1)
        low, high = -most, most
    elif (matrix.metric == "error_rate" or matrix.metric not in PSEUDO_METRICS) and 0 <= low <= high <= 1:
        low, high = 0.0, 1.0
    elif low == high:
        return None
    higher_is_better = _higher_is_better(matrix.metric, infos)

    def level(value: float) -> int:
        at = min(max(int((value - low) / (high - low) * LEVELS), 0), LEVELS - 1)
        return at if higher_is_better else LEVELS - 1 - at

    return level


def mark_cells(block: Sequence[str], rows: Sequence[Sequence[int | None]], first: int) -> Iterator[Line]:
    """Yield the lines of a table with the levels of its cells.

    Args:
        block: the lines of the table; the second one has dashes under each column.
        rows: the level of each cell of the whole table, None for no level; the first cell of a row is its label.
        first: index into ``rows`` of this block's first column after the label.
    """
    yield from map(Line, block[:2])
    spans = [(match.start(), match.end()) for match in re.finditer("-+", block[1])][1:]
    for text, levels in zip(block[2:], rows, strict=True):
        places = _places(text)
        marks = []
        for (start, end), level in zip(spans, levels[first:], strict=False):
            begin, stop = _at(places, start), _at(places, end)
            shown = text[begin:stop]
            begin = stop - len(shown.lstrip())
            if level is not None and shown.strip():
                marks.append(Mark(begin, stop, level))
        yield Line(text, "", tuple(marks))


def worst_lines(matrices: Sequence[Matrix], infos: Infos) -> Iterator[Line]:
    """Yield the five worst cells of the first metric, over all systems.

    Only cells that are worse than the total are listed. Cells with few cases are listed only if fewer than five others
    are worse. Nothing is listed for a metric with fewer than ten cells, because people see these at a glance.
    """
    metric = matrices[0].metric if matrices else ""
    shown = [matrix for matrix in matrices if matrix.metric == metric]
    cells = [each for matrix in shown for each in _cells(matrix)]
    if metric in TOTALS or len(cells) < 2 * WORST:
        return
    sign = 1 if _higher_is_better(metric, infos) else -1
    means = [matrix.total.mean for matrix in shown if matrix.total.mean is not None]
    worse = [each for each in cells if sign * each[1] < max(sign * mean for mean in means)]
    large = [each for each in worse if each[2].n >= MIN_CELL_CASES]
    worst = sorted(large if len(large) >= WORST else worse, key=lambda each: (sign * each[1], -each[2].n))[:WORST]
    if not worst:
        return
    yield Line("")
    yield Line(ascii_safe(f"worst cells of {metric}"))
    for label, value, cell in worst:
        text = f"  {value_text(value, metric)} ({cell.n}) {interval(cell.ci95)}  {label}"
        yield Line(ascii_safe(text))


def _cells(matrix: Matrix) -> Iterator[tuple[str, float, Cell]]:
    for row, cells in zip(matrix.rows, matrix.cells, strict=True):
        for col, cell in zip(matrix.cols, cells, strict=True):
            if cell is not None and cell.mean is not None:
                yield f"{row} x {col}" + (f" · {matrix.system}" if matrix.system else ""), cell.mean, cell


def _higher_is_better(metric: str, infos: Infos) -> bool:
    """Return whether a higher value of the metric is better."""
    return metric not in PSEUDO_METRICS and infos.get(metric, MetricInfo()).higher_is_better


def _places(text: str) -> list[int]:
    """Return the terminal column of each character, and of the end of the text."""
    from wcwidth import wcwidth

    places = [0]
    for char in text:
        places.append(places[-1] + max(0, wcwidth(char)))
    return places


def _at(places: Sequence[int], column: int) -> int:
    """Return the index of the character at a column."""
    return next((at for at, place in enumerate(places) if place >= column), len(places) - 1)
