"""The section on conversations: their means, by conversation and by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.dialogues import Dialogues
from pytest_rageval.model.facets import sort_key
from pytest_rageval.report.run.cell_json import decode_cell, encode_cell
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.summary_data import dialogues
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.tables import labels_of

__all__ = ["CONVERSATIONS"]

TITLE = "conversations - mean of their means; whole: no turn misses; rounds: mean (n)"


def _tables(rows: Sequence[Dialogues], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table with a row for each testbed and system: whole conversations, then each round."""
    rounds = sorted({name for each in rows for name, _ in each.rounds}, key=sort_key)
    cells = [dict(each.rounds) for each in rows]
    columns = [
        ["testbed", *labels_of([(testbeds[each.testbed].name, each.system) for each in rows])],
        ["metric", *(each.metric for each in rows)],
        ["dialogues", *(str(each.n) for each in rows)],
        ["mean", *(_share(each.mean) for each in rows)],
        ["whole", *(_whole(each) for each in rows)],
        *([f"round {name}", *(_cell(each.get(name)) for each in cells)] for name in rounds),
    ]
    yield Table(TITLE, columns)


def _encode(rows: Sequence[Dialogues]) -> list[dict[str, Any]]:
    return [
        asdict(each) | {"rounds": [{"round": name, **encode_cell(cell)} for name, cell in each.rounds]} for each in rows
    ]


def _decode(plain: Sequence[Mapping[str, Any]]) -> list[Dialogues]:
    return [
        Dialogues(**{**each, "rounds": tuple((cell["round"], decode_cell(cell)) for cell in each["rounds"])})
        for each in plain
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


CONVERSATIONS = Section(
    "dialogues",
    Dialogues,
    lambda run: dialogues(run.plan, run.originals()),
    _tables,
    encode=_encode,
    decode=_decode,
    in_markdown=False,
    top_level=True,
)
