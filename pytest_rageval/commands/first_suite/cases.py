"""The cases of a first suite: a few examples, or those of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.commands.imports import remarks
from pytest_rageval.datasets import jsonl
from pytest_rageval.datasets.imports import ImportRequest, ImportResult
from pytest_rageval.datasets.imports.samples import table
from pytest_rageval.datasets.source import JsonObject, read_records, shown_path
from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.report.text.lines import counted

__all__ = ["CASES", "Cases", "cases_of", "example_cases"]

CASES = "tests/cases.jsonl"
"""The file of the cases, relative to the project's folder."""

_PAGES = {
    "visit": "The museum opens at 9:00 in summer and at 10:00 in winter. The last visitors enter at 17:30.",
    "tickets": "A ticket for adults costs 9 euros. A ticket for children costs 4 euros. Students pay 6 euros.",
    "history": "Ann Lee built the hall in 1910. The roof burned in 1944. The garden was laid out in 1985.",
}

_QUESTIONS = (
    ("summer", "Visit", "When does the museum open in summer?", "9:00", "visit"),
    ("last", "Visit", "When do the last visitors enter?", "17:30", "visit"),
    ("adults", "Tickets", "What does a ticket for adults cost?", "9 euros", "tickets"),
    ("children", "Tickets", "What does a ticket for children cost?", "4 euros", "tickets"),
    ("hall", "History", "Who built the hall?", "Ann Lee", "history"),
    ("roof", "History", "When did the roof burn?", "1944", "history"),
)
"""Id, topic, question, answer, and the page with the answer; another page is added as noise."""


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a suite.

    Attributes:
        rows: the records.
        path: the existing file with the records; None if they still have to be written.
        remarks: lines about rows and fields that were left out.
        lost: whether a row or a field was left out.
    """

    rows: Sequence[JsonObject]
    path: Path | None = None
    remarks: tuple[str, ...] = ()
    lost: bool = False

    @property
    def text(self) -> str:
        """The records as JSON Lines."""
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)

    def without_passages(self) -> int:
        """Count the records that supply no passages."""
        return sum(not row.get("passages") for row in self.rows)


def example_cases() -> Cases:
    """Return six cases about a museum that does not exist."""
    pages = list(_PAGES)
    return Cases([_record(*each, noise=pages[pages.index(each[-1]) - 1]) for each in _QUESTIONS])


def _record(name: str, topic: str, question: str, answer: str, page: str, noise: str) -> JsonObject:
    passages = [
        {"id": page, "text": _PAGES[page], "role": "positive"},
        {"id": noise, "text": _PAGES[noise]},
    ]
    return {"id": name, "question": question, "answers": [answer], "topic": topic, "passages": passages}


def cases_of(path: Path, folder: Path) -> Cases:
    """Return the cases of a file: JSON Lines in our own format, or a table that `rageval import table` reads.

    A file in our own format below ``folder`` is used in place, and not copied.

    Raises:
        RagEvalError: the file cannot be read, or contains no case.
    """
    if path.suffix.lower() == ".jsonl":
        try:
            jsonl.load(path)
        except DataError:  # JSON Lines with other names; the import reports what it cannot read
            if path.resolve() == (folder / CASES).resolve():
                raise  # the import would overwrite the file
        else:
            below = path.resolve().is_relative_to(folder.resolve())
            return _not_empty(path, Cases([row for _, row in read_records(path)], path if below else None))
    result = ImportResult()
    table(ImportRequest((path,)), result)
    lines = tuple(remarks(result))
    if result.answers:
        use = f"rageval import table {shown_path(path)}"
        lines += (f"{counted(len(result.answers), 'recorded answer')} not used; `{use}` writes them for --rag-answers",)
    return _not_empty(path, Cases(result.cases, None, lines, result.lost), *result.skipped[:1])


def _not_empty(path: Path, cases: Cases, *skipped_rows: tuple[str, str]) -> Cases:
    if not cases.rows:
        why = "".join(f"; the first row left out: {': '.join(each)}" for each in skipped_rows)
        raise SettingError(f"{shown_path(path)} has no case, and nothing was written{why}")
    return cases
