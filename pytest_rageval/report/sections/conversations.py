"""What conversations tell, as a section of the summary."""

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
    """Yield a table with a row for each testbed and system that held conversations: as wholes, and round by round."""
    found = run.dialogues()
    if not found:
        return
    labels = labels_of([(run.plan.testbeds[each.testbed].name, each.system) for each in found])
    yield Line("")
    yield Line(CONVERSATIONS)
    yield from table(["testbed", *labels], dialogue_columns(found), width)


def dialogue_columns(found: Sequence[Dialogues]) -> list[list[str]]:
    """Return the columns of the table, each with its head, but for that of the labels."""
    rounds = sorted({name for each in found for name, _ in each.rounds}, key=sort_key)
    cells = [dict(each.rounds) for each in found]
    return [
        ["metric", *(each.metric for each in found)],
        ["dialogues", *(str(each.n) for each in found)],
        ["mean", *(_share(each.mean) for each in found)],
        ["whole", *(_whole(each) for each in found)],
        *([f"round {name}", *(_cell(each.get(name)) for each in cells)] for name in rounds),
    ]


def _whole(told: Dialogues) -> str:
    return _share(told.whole) if told.whole is None else f"{_share(told.whole)} of {told.n_complete}"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    unscored = f"+{cell.n_unscored}" if cell.n_unscored else ""
    return f"{_share(cell.mean)} ({cell.n}{unscored})"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
