"""Conversations in the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.dialogues import Dialogues
from pytest_rageval.model.facets import sort_key
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.text.lines import Line
from pytest_rageval.report.text.tables import labels_of, table

__all__ = ["CONVERSATIONS", "dialogue_columns", "dialogue_lines"]

CONVERSATIONS = "conversations - mean of their means; whole: no turn misses; rounds: mean (n)"
"""The heading of the section."""


def dialogue_lines(run: Run, width: int) -> Iterator[Line]:
    """Yield a table of conversations, as wholes and by round, with a row for each testbed and system."""
    dialogues = run.dialogues()
    if not dialogues:
        return
    labels = labels_of([(run.plan.testbeds[each.testbed].name, each.system) for each in dialogues])
    yield Line("")
    yield Line(CONVERSATIONS)
    yield from table(["testbed", *labels], dialogue_columns(dialogues), width)


def dialogue_columns(dialogues: Sequence[Dialogues]) -> list[list[str]]:
    """Return the columns of the table with their heads, without the column of labels."""
    rounds = sorted({name for each in dialogues for name, _ in each.rounds}, key=sort_key)
    cells = [dict(each.rounds) for each in dialogues]
    return [
        ["metric", *(each.metric for each in dialogues)],
        ["dialogues", *(str(each.n) for each in dialogues)],
        ["mean", *(_share(each.mean) for each in dialogues)],
        ["whole", *(_whole(each) for each in dialogues)],
        *([f"round {name}", *(_cell(each.get(name)) for each in cells)] for name in rounds),
    ]


def _whole(each: Dialogues) -> str:
    return _share(each.whole) if each.whole is None else f"{_share(each.whole)} of {each.n_complete}"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    unscored = f"+{cell.n_unscored}" if cell.n_unscored else ""
    return f"{_share(cell.mean)} ({cell.n}{unscored})"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
