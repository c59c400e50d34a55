"""A project in a temporary folder, pytest runs in it, and the counts of a kind of trouble."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["LONGEST_S", "Project", "Trouble", "pytest_command"]

QUIET = (
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:langsmith_plugin",
    "-p",
    "no:anyio",
)
TRACEBACK = re.compile(
    r"Traceback \(most recent call last\)|INTERNALERROR|pytest_rageval/\S+\.py:\d+: (?!KeyboardInterrupt)\w+"
)
LONGEST_S = 120.0

Row = Mapping[str, Any]


@dataclass
class Trouble:
    """The counts of one kind of trouble.

    Attributes:
        name: of the trouble.
        trials: how often it was tried.
        lost: cases without a score; a case that causes the trouble may be an error instead.
        asked_twice: questions that were asked again beyond those in flight.
        tracebacks: trials in which a user saw a traceback or pytest's INTERNALERROR.
        broken: a sentence for each trial that did not survive.
    """

    name: str
    trials: int = 0
    lost: int = 0
    asked_twice: int = 0
    tracebacks: int = 0
    broken: list[str] = field(default_factory=list)

    @property
    def survived(self) -> int:
        return self.trials - len(self.broken)

    def row(self) -> list[str]:
        """Return the row of the table."""
        counts = (self.trials, self.survived, self.lost, self.asked_twice, self.tracebacks)
        return [self.name, *map(str, counts)]

    def count_trial(self, problems: Sequence[str], output: str = "") -> None:
        """Count a trial, which survived if it has no problems and no traceback."""
        self.trials += 1
        match = TRACEBACK.search(output)
        if match:
            self.tracebacks += 1
            problems = [
                *problems,
                f"a traceback: {' '.join(output[max(0, match.start() - 300) : match.end() + 900].split())}",
            ]
        if problems:
            self.broken.append("; ".join(problems))


class Project:
    """A project of one testbed in a separate folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    @contextmanager
    def temporary(cls, rows: Sequence[Row], files: Mapping[str, str]) -> Iterator[Project]:
        """Write a project, and remove it at the end."""
        with TemporaryDirectory(prefix="rageval-chaos-") as name:
            project = cls(Path(name))
            project.write("cases.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
            project.write("pytest.ini", "[pytest]\n")
            for file, text in files.items():
                project.write(file, text)
            yield project

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, encoding="utf-8")

    def run(self, *args: str, **environment: str) -> tuple[int, str]:
        """Run pytest to its end, and return its exit status and its output."""
        with self.start(*args, **environment) as process:
            try:
                status = process.wait(LONGEST_S)
            except subprocess.TimeoutExpired:
                process.kill()
                status = -1
        return status, (self.path / "output.txt").read_text(errors="replace")

    def start(self, *args: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start pytest in a separate process group; its output goes to output.txt."""
        with (self.path / "output.txt").open("wb") as output:
            return subprocess.Popen(
                pytest_command(*args), cwd=self.path, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def outcomes(self, name: str = "results.json") -> dict[str, dict[str, Any]]:
        """Return case id -> outcome from the results of a run; {} if it wrote none."""
        path = self.path / name
        if not path.exists():
            return {}
        return {each["case_id"]: each for each in json.loads(path.read_text(encoding="utf-8"))["outcomes"]}

    def gates(self, name: str = "results.json") -> list[tuple[Any, ...]]:
        """Return the gates of a run."""
        results = json.loads((self.path / name).read_text(encoding="utf-8"))
        return [(gate["expr"], gate["status"], gate["value"], gate["n"]) for gate in results["gates"]]


def pytest_command(*args: str) -> list[str]:
    """Return the command that runs pytest on a project."""
    return [sys.executable, "-m", "pytest", *QUIET, *args]
