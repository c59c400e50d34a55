"""A review session: the next case, decisions, undo, and changes on disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.errors import DataError, SettingError, short_repr
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.output.folder import DRAFTS
from pytest_rageval.generation.review.apply_decisions import apply_decisions, valid_decisions
from pytest_rageval.generation.review.decision import Decision, Edit, Undo, now
from pytest_rageval.generation.review.decisions_file import DECISIONS, Decisions, append_decision, read_decisions
from pytest_rageval.generation.review.edits import apply_edits, fault_of_edit
from pytest_rageval.generation.review.folder import Cell, ReviewFolder, open_folder, second_readings
from pytest_rageval.generation.review.presentation import seen_sha

__all__ = ["ChangedError", "Progress", "ReviewSession", "reviewer_name"]

_MAX_NAME_LENGTH = 100


class ChangedError(DataError):
    """Raised if the draft differs from what the person saw; nothing is stored."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a person: cases that need no further decision by this person, and cases of the sample."""

    done: int
    total: int


class ReviewSession:
    """One person reviews one folder.

    Attributes:
        reviewer: the person's name.
        folder: the folder at the last refresh.
        decisions: the decisions at the last refresh.

    Args:
        path: the folder.
        reviewer: the person's name.
        cell: the part of the sample to review.
        second: the share (0..1) of the sample that two people decide.

    Raises:
        RagEvalError: the folder has nothing to review, a file is malformed, or the name or the share is invalid.
    """

    def __init__(self, path: Path, reviewer: str, cell: Cell | None = None, second: float = 0.0) -> None:
        self.reviewer = reviewer_name(reviewer)
        if not 0 <= second <= 1:
            raise SettingError(f"--second {second:g}: wanted a share of the sample in 0..1, such as 0.2")
        self._path, self._cell, self._second = path, cell, second
        self.refresh()

    def refresh(self) -> bool:
        """Read changed files; return whether the drafts changed.

        Raises:
            RagEvalError: a file is missing or malformed; the session stays unchanged.
        """
        before = getattr(self, "_drafts_state", None)
        state = _state(self._path / DRAFTS)
        if state != before or state is None:
            folder = open_folder(self._path, self._cell)
            self.folder: ReviewFolder = folder
            self._by_id = {draft.id: draft for draft in folder.sample}
            self._second_readings = second_readings(folder, self._second)
            self._drafts_state = state
        decisions_state = _state(self._path / DECISIONS)
        if decisions_state is None or decisions_state != getattr(self, "_decisions_state", None):
            self.decisions: Decisions = read_decisions(self._path / DECISIONS)
            self._decisions_state = decisions_state
        return before is not None and state != before

    def draft(self, name: str) -> Draft:
        """Return a draft of the sample.

        Raises:
            SettingError: the sample has no draft with this id.
        """
        if name not in self._by_id:
            raise SettingError(f"{short_repr(name)} is not a case of the sample; the drafts may have changed since")
        return self._by_id[name]

    def own_decision(self, draft: Draft) -> Decision | None:
        """Return this person's decision about the current text of a draft; None if there is none."""
        return next((each for each in valid_decisions(draft, self.decisions) if each.reviewer == self.reviewer), None)

    def needs_decision(self, draft: Draft) -> bool:
        """Return whether this person must still decide about a draft."""
        people = {each.reviewer for each in valid_decisions(draft, self.decisions)}
        return self.reviewer not in people and len(people) < (2 if draft.id in self._second_readings else 1)

    def changed_since(self, draft: Draft) -> bool:
        """Return whether a draft has changed since this person's decision."""
        stored = self.decisions.standing.get(draft.id, {}).get(self.reviewer)
        return stored is not None and stored.seen != seen_sha(draft)

    def following(self, name: str = "") -> Draft | None:
        """Return the next draft to decide after the draft ``name``, then from the start; None if all are done."""
        sample = self.folder.sample
        start = next((at for at, draft in enumerate(sample, 1) if draft.id == name), 0)
        return next((draft for draft in (*sample[start:], *sample[:start]) if self.needs_decision(draft)), None)

    @property
    def progress(self) -> Progress:
        """The progress of this person."""
        n_open = sum(map(self.needs_decision, self.folder.sample))
        return Progress(len(self.folder.sample) - n_open, len(self.folder.sample))

    def drafts_with_decisions(self) -> list[Draft]:
        """Return all drafts with people's decisions so far."""
        return apply_decisions(self.folder.drafts, self.decisions)

    def fault(self, draft: Draft, edit: Edit) -> str:
        """Return the check that a correction fails; "" if it passes all."""
        edits = {
            name: decision.edit
            for name in self.decisions.standing
            if name in self._by_id and name != draft.id
            for decision in valid_decisions(self._by_id[name], self.decisions)
            if decision.edit is not None
        }
        in_dialogue = draft.facets.get("dialogue")
        others = {name: edit for name, edit in edits.items() if not in_dialogue or not self._joins(name, in_dialogue)}
        return fault_of_edit(draft, edit, apply_edits(self.folder.drafts, others))

    def _joins(self, name: str, dialogue: str) -> bool:
        return self._by_id[name].facets.get("dialogue") == dialogue

    def decide(
        self, name: str, seen: str, grade: int, ticks: Iterable[str] = (), edit: Edit | None = None, reviewer: str = ""
    ) -> Decision:
        """Store a decision on disk, unless it repeats the person's last one.

        Args:
            name: the id of the draft.
            seen: the sha256 of the content that the person saw.
            grade: 1..5.
            ticks: names of `TICKS`.
            edit: the correction, with grade 3.
            reviewer: the person who decided; "" for the session's person.

        Raises:
            ChangedError: the draft differs from what the person saw.
            RagEvalError: the draft is unknown, the correction fails a check, or the file cannot be written.
        """
        self.refresh()
        draft = self.draft(name)
        if seen_sha(draft) != seen:
            raise ChangedError(name, "the case changed since it was shown; nothing was stored, look at it again")
        fault = self.fault(draft, edit) if edit is not None else ""
        if fault:
            raise DataError(name, f"the correction fails a check: {fault}")
        decision = Decision(name, seen, grade, reviewer or self.reviewer, tuple(ticks), edit, now())
        if not decision.repeats(self.decisions.standing.get(name, {}).get(decision.reviewer)):
            self._append(decision)
        return decision

    def undo(self) -> str:
        """Undo this person's last decision; return the id of the case, "" if there is none."""
        self.refresh()
        last = self.decisions.last_of(self.reviewer)
        if last is None:
            return ""
        self._append(Undo(last.draft, self.reviewer, now()))
        return last.draft

    def _append(self, entry: Decision | Undo) -> None:
        append_decision(self._path / DECISIONS, entry)
        self.refresh()


def reviewer_name(name: str) -> str:
    """Return a person's name, with single spaces.

    Raises:
        SettingError: the name is blank, too long, or has an invisible character.
    """
    normalized = " ".join(name.split())
    if normalized and normalized.isprintable() and len(normalized) <= _MAX_NAME_LENGTH:
        return normalized
    raise SettingError(f"--reviewer {short_repr(name)}: wanted a name of 1 to {_MAX_NAME_LENGTH} visible characters")


def _state(path: Path) -> Sequence[int] | None:
    """Return file data that change if a file is replaced or grows; None if it is missing."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
