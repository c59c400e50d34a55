"""Review in a spreadsheet: write cases as rows, and import filled rows as decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.datasets.sheets import read_sheet, sheet_text
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, did_you_mean, short_repr
from pytest_rageval.folders import atomic_files
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.review.decision import GRADES, MEND, TICKS, Decision, Edit
from pytest_rageval.generation.review.edits import edit_of
from pytest_rageval.generation.review.presentation import seen_sha
from pytest_rageval.generation.review.session import ReviewSession, reviewer_name
from pytest_rageval.model.case import Gold

__all__ = ["ImportResult", "import_sheet", "write_sheet"]

READ_ONLY_COLUMNS = (
    "id",
    "seen",
    "topic",
    "task",
    "generator",
    "history",
    "question",
    "answers",
    "evidence",
    "passages",
    "checks",
)
CORRECTION_COLUMNS = ("mended question", "mended answers", "mended evidence")
FILLED_COLUMNS = ("grade", *TICKS.values(), *CORRECTION_COLUMNS, "reviewer")
"""The columns that people fill in."""

YES = frozenset({"x", "yes", "y", "1", "true", "✓"})
NO = frozenset({"", "no", "n", "0", "false", "-"})
_SLOT, _ALIAS = "\n", " | "


@dataclass(frozen=True, slots=True)
class ImportResult:
    """Counts of the imported rows of a sheet.

    Attributes:
        stored: new decisions.
        already_stored: rows with an already stored decision.
        blank: rows without a grade.
        changed: ids of cases that have changed since the sheet was written; their decisions are not stored.
    """

    stored: int
    already_stored: int
    blank: int
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    draft: Draft
    decision: Decision


def write_sheet(session: ReviewSession, path: Path) -> int:
    """Write the cases that a person must still decide; return their number.

    Raises:
        FileExistsError: the file exists.
        OSError: the file cannot be written.
    """
    drafts = [draft for draft in session.folder.sample if session.needs_decision(draft)]
    text = sheet_text((*READ_ONLY_COLUMNS, *FILLED_COLUMNS), [_cells(draft, session.reviewer) for draft in drafts])
    with atomic_files(path, overwrite=False) as (part,):
        part.write_text("\ufeff" + text, encoding="utf-8", newline="")  # Excel detects UTF-8 by the BOM
    return len(drafts)


def import_sheet(session: ReviewSession, path: Path) -> ImportResult:
    """Store the decisions of a filled sheet, after a check of all rows.

    Raises:
        DataError: the sheet cannot be read, a column is missing, or a row has an unknown id, grade or tick, or a
            correction that fails a check.
    """
    name, records = shown_path(path), read_sheet(path)
    missing = [column for column in ("id", "seen", "grade") if column not in records[0][1]]
    if missing:
        raise DataError(f"{name}:1", f"the column {missing[0]} is missing; write the sheet with rageval review --sheet")
    rows: list[_Row] = []
    blank, already_stored, changed = 0, 0, []
    for line, cells in records:
        texts = {column: str(value).strip() for column, value in cells.items() if value is not None}
        draft = _draft(f"{name}:{line}", texts, session)
        if not texts.get("grade"):
            _check_ungraded(f"{name}:{line}", texts)
            blank += 1
        elif texts.get("seen") != seen_sha(draft):
            changed.append(draft.id)
        else:
            row = _Row(f"{name}:{line}", draft, _decision(f"{name}:{line}", texts, draft, session))
            stored = session.decisions.standing.get(draft.id, {}).get(row.decision.reviewer)
            if row.decision.repeats(stored):
                already_stored += 1
            else:
                rows.append(row)
    for row in rows:
        one = row.decision
        session.decide(one.draft, one.seen, one.grade, one.ticks, one.edit, one.reviewer)
    return ImportResult(len(rows), already_stored, blank, tuple(changed))


def _cells(draft: Draft, reviewer: str) -> list[str]:
    cells = {
        "id": draft.id,
        "seen": seen_sha(draft),
        "topic": draft.topic,
        "task": draft.task,
        "generator": f"{draft.generator} {draft.origin}",
        "history": "\n".join(f"{turn.question}\n{turn.answer}" for turn in draft.history),
        "question": draft.question,
        "answers": _SLOT.join(_ALIAS.join(slot) for slot in draft.gold),
        "evidence": "\n".join(draft.evidence),
        "passages": "\n\n".join("\n".join(filter(None, (each.title, each.text))) for each in draft.sources),
        "checks": ", ".join(draft.checks),
        "reviewer": reviewer,
    }
    return [cells.get(column, "") for column in (*READ_ONLY_COLUMNS, *FILLED_COLUMNS)]


def _draft(where: str, texts: Mapping[str, str], session: ReviewSession) -> Draft:
    by_id = {draft.id: draft for draft in session.folder.sample}
    name = texts.get("id", "")
    if name not in by_id:
        raise DataError(where, f"id: {short_repr(name)} is not a case of the sample; {_near(name, by_id)}")
    return by_id[name]


def _near(name: str, names: Iterable[str]) -> str:
    hint = did_you_mean(name, names)
    return hint if hint.startswith("did") else "write the sheet again with rageval review --sheet"


def _check_ungraded(where: str, texts: Mapping[str, str]) -> None:
    filled_column = next((column for column in (*TICKS.values(), *CORRECTION_COLUMNS) if texts.get(column)), None)
    if filled_column is not None:
        raise DataError(where, f"{filled_column} is filled in, but grade is empty; write a grade of 1..5")


def _decision(where: str, texts: Mapping[str, str], draft: Draft, session: ReviewSession) -> Decision:
    grade = texts["grade"].removesuffix(".0")  # as spreadsheets write numbers
    if grade not in map(str, GRADES):
        raise DataError(where, f"grade: found {short_repr(texts['grade'])}, wanted 1, 2, 3, 4 or 5")
    ticks = tuple(name for name, column in TICKS.items() if _is_ticked(where, column, texts.get(column, "")))
    edit = _edit(texts, draft)
    if edit is not None and int(grade) != MEND:
        raise DataError(where, f"a case with a correction has grade {MEND}, found {grade}")
    fault = session.fault(draft, edit) if edit is not None else ""
    if fault:
        raise DataError(where, f"the correction fails a check: {fault}")
    reviewer = reviewer_name(texts.get("reviewer") or session.reviewer)
    return Decision(draft.id, texts["seen"], int(grade), reviewer, ticks, edit)


def _is_ticked(where: str, column: str, text: str) -> bool:
    if text.casefold() in YES | NO:
        return text.casefold() in YES
    raise DataError(where, f"{column}: found {short_repr(text)}, wanted x or nothing")


def _edit(texts: Mapping[str, str], draft: Draft) -> Edit | None:
    """Return the correction of a row, None if all its columns are empty; an empty column changes nothing."""
    question, answers, evidence = (texts.get(column, "") for column in CORRECTION_COLUMNS)
    if not (question or answers or evidence):
        return None
    before = edit_of(draft)
    return Edit(question or before.question, _gold(answers) or before.gold, _lines(evidence) or before.evidence)


def _gold(text: str) -> Gold:
    """Parse slots, one per line, with ``|`` between aliases."""
    slots = (tuple(filter(None, map(str.strip, line.split(_ALIAS.strip())))) for line in text.splitlines())
    return tuple(slot for slot in slots if slot)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
