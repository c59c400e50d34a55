"""Text tables that fit the width of a terminal, their cells, and noise curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.cells import Cell, cell_of
from pytest_rageval.analysis.matrix import FEW, facet_values
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.text.fit_text import sparkline
from pytest_rageval.report.text.lines import Line, dollars

__all__ = [
    "ABSENT", "INDENT", "MAX_SHOWN", "TOTALS", "blocks_of", "cell_text", "curve_lines", "labels_of", "plain_table",
    "table", "table_lines", "value_text",
]  # fmt: skip

ABSENT = "–"
INDENT = "\ue000"
"""Stands for a space at the start of a label, because `tabulate` strips spaces; printed as a space."""

TOTALS = ("cost_usd", "tokens", "n")
"""Pseudo-metrics that are sums."""

MAX_SHOWN = 100  # rows and columns shown in a terminal


def curve_lines(curves: Sequence[tuple[str, bool, Sequence[Outcome]]], metric: str, width: int) -> Iterator[Line]:
    """Yield a table of a metric at each noise rate, one row per testbed, with the total change and a sparkline.

    Args:
        curves: (label, whether the metric is binary, outcomes) for each testbed.
        metric: name of the metric.
        width: columns of the terminal.
    """
    rates = facet_values("noise_rate", [outcome for *_, group in curves for outcome in group])
    cells = [[_at_rate(metric, binary, group, rate) for rate in rates] for _, binary, group in curves]
    head = ["testbed \\ noise_rate", *(label for label, *_ in curves)]
    columns = [[rate, *(cell_text(row[at], metric) for row in cells)] for at, rate in enumerate(rates)]
    columns.append(["change", *(_change(row) for row in cells)])
    columns.append(["curve", *(_spark(row) for row in cells)])
    return table(head, columns, width)


def blocks_of(head: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Split a table into tables that fit the width, each with the head and at least one column."""
    blocks: list[list[str]] = []
    at = 0
    while at < len(columns):
        fitting, n_columns = _table([head, columns[at]]), 1
        while at + n_columns < len(columns):
            wider = _table([head, *columns[at : at + n_columns + 1]])
            if _width(wider) > width:
                break
            fitting, n_columns = wider, n_columns + 1
        blocks.append(fitting)
        at += n_columns
    return blocks


def labels_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return the label of each (testbed, system): the testbed, followed by the system if there are several."""
    several = len({system for _, system in pairs}) > 1
    return [f"{name} ({system})" if several else name for name, system in pairs]


def table(head: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> Iterator[Line]:
    """Yield a table, split to fit the width, with an empty line before each part."""
    for block in blocks_of(head, columns, width):
        yield Line("")
        yield from map(Line, block)


def plain_table(columns: Sequence[Sequence[str]], *, last_left: bool = False) -> list[str]:
    """Return columns as aligned lines without rules; the first text of a column is its head.

    Args:
        columns: the columns; labels in the first one keep their leading spaces.
        last_left: whether to align the last column left.
    """
    indented = [INDENT * (len(text) - len(text.lstrip(" "))) + text.lstrip(" ") for text in columns[0]]
    return table_lines(list(zip(indented, *columns[1:], strict=True)), style="plain", last_left=last_left)


def table_lines(
    rows: Sequence[Sequence[str]], left: int = 1, style: str = "simple", *, last_left: bool = False
) -> list[str]:
    """Return rows as aligned lines.

    Args:
        rows: the rows; the first one is the head.
        left: number of columns to align left, from the first one; the others are aligned right.
        style: one of tabulate's table formats.
        last_left: whether to align the last column left too.
    """
    from tabulate import tabulate

    safe = [
        [INDENT * (len(text) - len(text.lstrip(INDENT))) + ascii_safe(text.lstrip(INDENT)) for text in row]
        for row in rows
    ]
    align = ["left" if at < left else "right" for at in range(len(safe[0]))]
    align[-1] = "left" if last_left else align[-1]
    text = tabulate(safe[1:], headers=safe[0], tablefmt=style, disable_numparse=True, colalign=align)
    return [line.replace(INDENT, " ").rstrip() for line in text.splitlines()]


def _at_rate(metric: str, binary: bool, group: Sequence[Outcome], rate: str) -> Cell | None:
    at_rate = [outcome for outcome in group if outcome.facets.get("noise_rate") == rate]
    return cell_of(metric, binary, at_rate) if at_rate else None


def _change(cells: Sequence[Cell | None]) -> str:
    means = [cell.mean for cell in cells if cell is not None and cell.mean is not None]
    return f"{means[-1] - means[0]:+.2f}" if len(means) > 1 else ABSENT


def _spark(cells: Sequence[Cell | None]) -> str:
    """Return a sparkline of a row; values in 0..1 have the same scale in all rows."""
    means = [None if cell is None else cell.mean for cell in cells]
    shares = all(mean is None or 0 <= mean <= 1 for mean in means)
    return sparkline(means, (0.0, 1.0) if shares else None).ljust(len(means)).replace(" ", "·")


def _table(columns: Sequence[Sequence[str]]) -> list[str]:
    return table_lines(list(zip(*columns, strict=True)))


def _width(lines: Sequence[str]) -> int:
    from wcwidth import wcswidth

    return max(wcswidth(line) for line in lines)


def cell_text(cell: Cell | None, metric: str, *, signed: bool = False) -> str:
    """Return ``0.91 (20)``; ``*`` marks few cases, ``+2`` counts unscored cases, ``–`` means no case.

    A signed cell is a difference, ``+0.12 (20)!``; ``!`` marks an interval without 0.
    """
    if cell is None:
        return ABSENT
    value = "?" if cell.mean is None else value_text(cell.mean, metric, signed=signed)
    n = cell.n if cell.n_cases is None else cell.n_cases
    few = "*" if n < FEW and metric not in TOTALS else ""
    significant = "!" if signed and cell.ci95 is not None and not cell.ci95[0] <= 0 <= cell.ci95[1] else ""
    unscored = f"+{cell.n_unscored}" if cell.n_unscored else ""
    return f"{value} ({cell.n}{unscored}){few}{significant}"


def value_text(value: float, metric: str, *, signed: bool = False) -> str:
    """Return a value as tables show it; a difference has its sign."""
    if metric == "cost_usd":
        return dollars(value)
    if metric in TOTALS:
        return f"{value:,.0f}"
    return f"{value:+.2f}" if signed else f"{value:.2f}"
