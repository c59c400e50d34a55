"""A person's decision about a draft, and its line in decisions.jsonl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from pytest_rageval.datasets.source import json_kind
from pytest_rageval.errors import DataError, did_you_mean, short_repr
from pytest_rageval.model.case import Gold

__all__ = ["ACCEPTED", "GRADES", "MEND", "TICKS", "Decision", "Edit", "Undo", "decision_line", "now", "read_decision"]

TICKS: Mapping[str, str] = {
    "task": "fits the task",
    "topic": "on topic",
    "self_contained": "self-contained",
    "answer": "answer right and complete",
    "evidence": "evidence right and complete",
}
"""Name of a checkbox -> its label."""

GRADES: Mapping[int, str] = {1: "drop", 2: "drop", 3: "mend", 4: "accept", 5: "accept"}
"""Grade -> effect on the case."""

MEND, ACCEPTED = 3, 4
"""The grade of a case to correct; the lowest grade of an accepted case."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Edit:
    """A person's correction of a case.

    Attributes:
        question: the question.
        gold: slots (all) of aliases (any).
        evidence: verbatim quotes of the sources.
    """

    question: str
    gold: Gold
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision about a draft.

    Attributes:
        draft: the id of the draft.
        seen: the sha256 of the content that the person saw, see `presentation.seen_sha`.
        grade: 1..5; 1 and 2 drop the case, 3 corrects it, 4 and 5 accept it.
        ticks: the names of the ticked `TICKS`.
        edit: the correction, only with grade 3; None without a correction.
        reviewer: the person's name.
        time: the time in ISO 8601.
    """

    draft: str
    seen: str
    grade: int
    reviewer: str
    ticks: tuple[str, ...] = ()
    edit: Edit | None = None
    time: str = ""

    def repeats(self, other: Decision | None) -> bool:
        """Return whether another decision differs from this one only in its time."""
        return other is not None and replace(other, time=self.time) == self


@dataclass(frozen=True, slots=True)
class Undo:
    """Undoes a person's last decision about a draft; an earlier one counts again."""

    draft: str
    reviewer: str
    time: str = ""


def now() -> str:
    """Return the current time in UTC, in seconds, in ISO 8601."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def decision_line(entry: Decision | Undo) -> dict[str, Any]:
    """Return the JSON values of an entry's line."""
    if isinstance(entry, Undo):
        return {"draft": entry.draft, "undo": True, "reviewer": entry.reviewer, "time": entry.time}
    edit = entry.edit
    return {
        "draft": entry.draft,
        "seen": entry.seen,
        "grade": entry.grade,
        "ticks": {name: name in entry.ticks for name in TICKS},
        "edit": edit and {"question": edit.question, "gold": edit.gold, "evidence": edit.evidence},
        "reviewer": entry.reviewer,
        "time": entry.time,
    }


def read_decision(where: str, values: Json) -> Decision | Undo:
    """Parse the entry of a line.

    Raises:
        DataError: the line is malformed.
    """
    draft, reviewer, time = (_text(where, values, key) for key in ("draft", "reviewer", "time"))
    if values.get("undo") is True:
        return Undo(draft, reviewer, time)
    grade = values.get("grade")
    if not isinstance(grade, int) or isinstance(grade, bool) or grade not in GRADES:
        raise DataError(where, f"grade: found {json_kind(grade)}, wanted a whole number in 1..5")
    edit = None if values.get("edit") is None else _edit(where, values["edit"])
    if edit is not None and grade != MEND:
        raise DataError(where, f"edit: only a case of grade {MEND} is corrected, found grade {grade}")
    return Decision(draft, _text(where, values, "seen"), grade, reviewer, _ticks(where, values), edit, time)


def _text(where: str, values: Json, key: str) -> str:
    value = values.get(key)
    if isinstance(value, str) and value.strip():
        return value
    found = json_kind(value) if key in values else "nothing"
    raise DataError(where, f"{key}: found {found}, wanted a text that is not blank")


def _ticks(where: str, values: Json) -> tuple[str, ...]:
    ticks = values.get("ticks", {})
    if not isinstance(ticks, dict) or not all(isinstance(each, bool) for each in ticks.values()):
        raise DataError(where, f"ticks: found {json_kind(ticks)}, wanted an object of true and false")
    for name in ticks:
        if name not in TICKS:
            raise DataError(where, f"ticks: unknown name {short_repr(name)}; {did_you_mean(name, TICKS)}")
    return tuple(name for name in TICKS if ticks.get(name))


def _edit(where: str, values: object) -> Edit:
    if not isinstance(values, dict):
        raise DataError(where, f"edit: found {json_kind(values)}, wanted an object or null")
    gold = values.get("gold")
    if not isinstance(gold, list) or not gold or not all(map(_is_texts, gold)):
        raise DataError(where, "edit.gold: wanted a list of slots, each a list of texts that are not blank")
    evidence = values.get("evidence")
    if evidence and not _is_texts(evidence):
        raise DataError(where, "edit.evidence: wanted a list of texts that are not blank")
    slots = tuple(tuple(slot) for slot in gold)
    return Edit(_text(where, values, "question"), slots, tuple(evidence or ()))


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each.strip() for each in value)
