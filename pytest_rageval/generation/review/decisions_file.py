"""Read and append decisions.jsonl, an append-only log of people's decisions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_rageval.datasets.source import read_line, shown_path
from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.folders import regular_path
from pytest_rageval.generation.review.decision import Decision, Undo, decision_line, read_decision
from pytest_rageval.llm.recordings.line_file import append_line, is_whole

__all__ = ["DECISIONS", "Decisions", "append_decision", "read_decisions"]

DECISIONS = "decisions.jsonl"
"""The name of the file in the output folder."""


@dataclass(frozen=True)
class Decisions:
    """The entries of a file in order."""

    entries: tuple[Decision | Undo, ...] = ()

    @cached_property
    def standing(self) -> Mapping[str, Mapping[str, Decision]]:
        """Draft id -> reviewer -> the last decision without an undo."""
        by_draft: dict[str, dict[str, Decision]] = {}
        for decision in self._without_undone():
            of_draft = by_draft.setdefault(decision.draft, {})
            of_draft.pop(decision.reviewer, None)  # the order is that of the last decisions
            of_draft[decision.reviewer] = decision
        return by_draft

    def last_of(self, reviewer: str) -> Decision | None:
        """Return a person's last decision without an undo; None if there is none."""
        return next((each for each in reversed(self._without_undone()) if each.reviewer == reviewer), None)

    def _without_undone(self) -> list[Decision]:
        """Return the decisions without an undo; an undo cancels the last decision of its person and draft."""
        decisions: list[Decision] = []
        for entry in self.entries:
            if isinstance(entry, Decision):
                decisions.append(entry)
                continue
            positions = range(len(decisions) - 1, -1, -1)
            same = (at for at in positions if _key(decisions[at]) == _key(entry))
            at = next(same, None)
            if at is not None:
                del decisions[at]
        return decisions


def read_decisions(path: Path) -> Decisions:
    """Read the decisions of a file, none if it is missing; ignore a last line that a kill truncated.

    Raises:
        DataError: the file cannot be read, or a complete line is malformed.
    """
    name = shown_path(path)
    try:
        data = regular_path(path).read_bytes() if path.exists() else b""
    except OSError as error:
        raise DataError(name, f"cannot be read: {error.strerror or error}") from None
    *lines, tail = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if is_whole(tail):
        lines.append(tail)
    return Decisions(tuple(_entries(name, lines)))


def append_decision(path: Path, entry: Decision | Undo) -> None:
    """Append an entry and flush it to the disk.

    Raises:
        DataError: a text of the entry cannot be stored, such as one with a NUL character.
        SettingError: the file cannot be written.
    """
    line = json.dumps(decision_line(entry), ensure_ascii=True)
    _entry("the decision", line)
    try:
        append_line(path, line.encode(), durable=True)
    except OSError as error:
        raise SettingError(f"{shown_path(path)}: cannot be written ({error.strerror or error})") from None


def _entries(name: str, lines: Iterable[bytes]) -> Iterable[Decision | Undo]:
    for number, raw in enumerate(lines, 1):
        where = f"{name}:{number}"
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise DataError(where, "is not UTF-8; take the line out of the file to go on without it") from None
        if text.strip():
            yield _entry(name, text, number)


def _entry(name: str, text: str, number: int = 0) -> Decision | Undo:
    values = read_line(text, name, number)
    return read_decision(f"{name}:{number}" if number else name, values or {})


def _key(entry: Decision | Undo) -> tuple[str, str]:
    return entry.draft, entry.reviewer
