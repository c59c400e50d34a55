"""Format a history: a sparkline and a table for each series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.history import Point, Series, UnreadableEntry
from pytest_rageval.report.text.fit_text import sparkline
from pytest_rageval.report.text.lines import few_of, interval, moment, number
from pytest_rageval.report.text.tables import ABSENT, blocks_of

__all__ = ["history_lines"]

COLUMNS = ("when", "value", "n", "95 %", "delta", "errors", "notes")
DEFAULT_VALUES = {"errors": "0", "notes": ""}  # a column with only this value is left out

MAX_NAME = {"run": 40, "commit": 12}
"""Characters to show of a run's name, and of a commit's hash."""


def history_lines(series: Sequence[Series], unread: Sequence[UnreadableEntry], label: str, width: int) -> Iterator[str]:
    """Yield a history as text.

    Args:
        series: at least one, each with at least one point.
        unread: runs or commits that could not be read.
        label: "run" or "commit".
        width: columns of the terminal.
    """
    for each in series:
        head = ascii_safe(f"{each.name} · {each.metric} · system {each.system}")
        room = max(8, width - len(head) - 2)
        complete = [point.total.value for point in each.points if not point.marks]
        yield f"{head}  {sparkline(complete[-room:])}"
        yield ""
        names, *columns = zip((label, *COLUMNS), *(_row(point, MAX_NAME[label]) for point in each.points), strict=True)
        filled = [column for column in columns if set(column[1:]) != {DEFAULT_VALUES.get(column[0])}]
        for block in blocks_of(names, filled, width):
            yield from block
            yield ""
    for why, group in groupby(sorted(unread, key=lambda each: each.why), key=lambda each: each.why):
        yield f"not read, {ascii_safe(f'{why}: {few_of(tuple(each.name[: MAX_NAME[label]] for each in group), 5)}')}"


def _row(point: Point, max_name: int) -> tuple[str, ...]:
    entry, total = point.entry, point.total
    delta = ABSENT if point.delta is None else f"{point.delta:+.4f}"
    marks = ", ".join(point.marks)
    value, n, errors = number(total.value), str(total.n), str(total.n_errors)
    return entry.name[:max_name], moment(entry.when), value, n, interval(total.ci95), delta, errors, marks
