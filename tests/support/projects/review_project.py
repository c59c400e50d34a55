"""A folder of generated cases, single ones and conversations, for tests of the review."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.cli import main
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.review.decision import Edit
from pytest_rageval.generation.review.presentation import seen_sha
from pytest_rageval.generation.review.session import ReviewSession

STAFF = """\
name,job,city,since
Ann Lee,curator,Oslo,2011
Bo Ek,director,Bergen,2004
Cy Dow,pilot,Tromso,2008
Di Fay,cook,Molde,1999
Ed Gow,baker,Hamar,2015
Flo Hay,smith,Narvik,2017
"""

PLAN = """\
seed = 3
[[table]]
name = "staff"
path = "staff.csv"
passage = "{name} works as {job} in {city} since {since}."
key = "name"
[[template]]
table = "staff"
ask = "Where does {name}, the {job}, work?"
answer = "{city}"
[[template]]
table = "staff"
task = "conversational_qa"
ask = "In which town does {name} earn a living?"
follow_up = ["And since which year?"]
answer = ["{city}", "{since}"]
[split]
auto_test = 0.7
auto_train = 0.3
human_per_cell = 4
"""


@dataclass(frozen=True)
class ReviewProject:
    """A project with the folder ``cases``; the current folder of the test."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def decisions(self) -> Path:
        return self.folder / "cases" / "decisions.jsonl"

    def run(self, *arguments: str) -> tuple[int, list[str]]:
        """Return the status of `rageval` and what it printed; for status 2 the one line of stderr."""
        status = main(list(arguments))
        out, err = self.capsys.readouterr()
        assert not (out if status == 2 else err), out + err
        assert status != 2 or err.count("\n") == 1, err
        return status, (err if status == 2 else out).splitlines()

    def generate(self, *arguments: str) -> list[str]:
        status, lines = self.run("generate", "plan.toml", "--out", "cases", *arguments)
        assert status in (0, 1), lines
        return lines

    def refusal(self, *arguments: str) -> str:
        status, lines = self.run("review", *arguments)
        assert status == 2, lines
        return lines[0]

    def session(self, reviewer: str = "Ann", **settings: Any) -> ReviewSession:
        return ReviewSession(self.folder / "cases", reviewer, **settings)

    def records(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the records of a dataset by id; {} if it was not written."""
        path = self.folder / "cases" / name
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return {each["id"]: each for each in map(json.loads, lines)}

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / "cases").iterdir()}


def grade(session: ReviewSession, draft: Draft, grade: int, edit: Edit | None = None) -> None:
    """Decide about a draft as it is now."""
    session.decide(draft.id, seen_sha(draft), grade, ["task", "topic"] if grade > 3 else [], edit)


def of_task(session: ReviewSession, task: str) -> list[Draft]:
    """Return the cases of a task in the sample, in the order in which they are shown."""
    return [draft for draft in session.folder.sample if draft.task == task]


@pytest.fixture(name="generated")
def generated_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> ReviewProject:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "staff.csv").write_text(STAFF, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    project = ReviewProject(tmp_path, capsys)
    project.generate()
    return project
