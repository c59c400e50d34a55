"""Projects with a table and a plan, and the command that generates from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.cli import main

STAFF = """\
name,job,city,since,boss
Ann Lee,curator,Oslo,2011,Bo Ek
Bo Ek,director,Bergen,2004,
Ann Lee,guard,Bergen,2019,Bo Ek
"""

TABLE = """\
[[table]]
name = "staff"
path = "staff.csv"
passage = "{name} works as {job} in {city} since {since}."
key = "name"
"""


@dataclass(frozen=True)
class PlanProject:
    """A folder with a plan; the current folder of the test."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def plan(self, *templates: str, head: str = "", table: str = TABLE) -> None:
        """Write plan.toml: the head, the table, and each template's keys."""
        self.write("plan.toml", head + table + "".join(f"[[template]]\n{each}\n" for each in templates))

    def run(self, *arguments: str) -> tuple[int, list[str]]:
        """Return the status and the lines of `rageval generate plan.toml --out out`: stdout, or stderr for status 2."""
        status = main(["generate", "plan.toml", *(arguments or ("--out", "out"))])
        out, err = self.capsys.readouterr()
        assert not (out if status == 2 else err)
        return status, (err if status == 2 else out).splitlines()

    def refusal(self, *arguments: str) -> str:
        """Return the one line that refuses the plan."""
        status, lines = self.run(*arguments)
        assert (status, len(lines)) == (2, 1), lines
        return lines[0]

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Return the records of a file of the folder ``out``."""
        return [json.loads(line) for line in (self.folder / "out" / name).read_text(encoding="utf-8").splitlines()]

    def drafts(self) -> list[tuple[str, str, list[list[str]]]]:
        """Return the reason ("" for a kept draft), the question and the gold of each draft, sorted by question."""
        drafts = [(each["reason"], each["question"], each["gold"]) for each in self.lines("drafts.jsonl")]
        return sorted(drafts, key=lambda each: (each[1], each[2]))


@pytest.fixture(name="project")
def plan_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> PlanProject:
    monkeypatch.chdir(tmp_path)
    project = PlanProject(tmp_path, capsys)
    project.write("staff.csv", STAFF)
    return project
