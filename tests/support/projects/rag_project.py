"""A small user project for plugin tests, run in every way that pytest runs tests."""

from __future__ import annotations

import json
import os
import pkgutil
import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess, Popen
from tempfile import TemporaryFile
from textwrap import dedent
from typing import Any

import bm25s  # noqa: F401 - pytester removes what a run imports; numpy and asyncio cannot be imported twice
import filelock  # noqa: F401 - its locks need it when the process ends
import pytest
import rjieba  # noqa: F401 - it reads its dictionary
import tabulate  # noqa: F401 - every run would import these again
import wcwidth  # noqa: F401
from _pytest.pytester import SysModulesSnapshot, SysPathsSnapshot
from jsonschema_rs import validator_for

import pytest_rageval
from pytest_rageval.cli import main
from pytest_rageval.report.files.results_json import schema

from ..processes.forked_workers import ForkedProcess, WorkerServer

for module in pkgutil.walk_packages(pytest_rageval.__path__, "pytest_rageval."):
    import_module(module.name)
for name in pytest_rageval.__all__:  # the package caches its names: load the classes that all runs share
    getattr(pytest_rageval, name)

Process = ForkedProcess | Popen[bytes]
Row = dict[str, Any]
Mode = tuple[str, ...]

MODES: dict[str, Mode] = {"plain": (), "n2": ("-n2",), "no-xdist": ("-p", "no:xdist")}

PLUGINS = {"--timeout": "pytest_timeout", "--reruns": "pytest_rerunfailures"}
"""Option -> its plugin, which a run loads only with this option."""

SAYS = """
    import pytest

    def say(query):
        word, _, rest = query.question.partition(" ")
        if word == "raise":
            raise ValueError(rest)
        return rest

    @pytest.fixture(scope="session")
    def rag_system():
        return say
"""
"""A conftest whose system does what the question says: "say Paris" gives the right answer, "raise ..." an error."""

RUNS = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"]{arguments})
    def test_it(rag):
        ...
"""


def case(name: str, question: str = "say Paris", gold: str = "Paris", **more: Any) -> Row:
    """Return a record whose gold answer is ``gold``."""
    return {"id": name, "question": question, "answers": [gold], **more}


RIGHT, WRONG, RAISES = "say Paris", "say Rome", "raise no such model"


def cases(*questions: str, **more: Any) -> list[Row]:
    """Return one record a question, named q1, q2 and so on; the gold answer is Paris."""
    return [case(f"q{number}", question, **more) for number, question in enumerate(questions, 1)]


@dataclass
class Run:
    """One run of pytest: its result, and its valid results.json (None if missing)."""

    result: pytest.RunResult
    results: Any

    @property
    def status(self) -> int:
        return int(self.result.ret)

    @property
    def text(self) -> str:
        return self.result.stdout.str()

    @property
    def prose(self) -> str:
        """The text with wrapped lines joined."""
        return re.sub(r"\n(?: {2}| {12})(?! )", " ", self.text)

    @property
    def outcomes(self) -> dict[str, Any]:
        """Outcomes by case id; the last one if a case has several."""
        return {outcome["case_id"]: outcome for outcome in self.results["outcomes"]}

    @property
    def statuses(self) -> dict[str, str]:
        return {name: outcome["status"] for name, outcome in self.outcomes.items()}

    @property
    def gates(self) -> dict[str, Any]:
        return {gate["expr"]: gate for gate in self.results["gates"]}

    def said(self, *lines: str) -> None:
        """Assert that the output has each of ``lines`` (fnmatch patterns), in any order, wrapped or not."""
        matcher = pytest.LineMatcher([*self.result.stdout.lines, *self.prose.splitlines()])
        for line in lines:
            matcher.fnmatch_lines([line])


class Project:
    """A user's project in a temporary folder."""

    def __init__(self, pytester: pytest.Pytester, server: WorkerServer) -> None:
        self.pytester = pytester
        self._server = server
        self.path = pytester.path

    def file(self, name: str, text: str) -> Path:
        """Write a file below the project, its text dedented and ended with a line break."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)  # it stores times in whole seconds
        path.write_text(dedent(text).strip("\n") + "\n", encoding="utf-8")
        return path

    def data(self, rows: Sequence[Row], name: str = "cases.jsonl") -> Path:
        """Write records as JSON Lines."""
        return self.file(name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    def says(self, rows: Sequence[Row], arguments: str = "", test: str = RUNS, conftest: str = SAYS) -> None:
        """Make a project of one testbed whose system does what its questions say."""
        self.data(rows)
        self.file("conftest.py", conftest)
        self.file("test_it.py", test.replace("{arguments}", f", {arguments}" if arguments else ""))

    def run(
        self,
        *args: str,
        subprocess: bool = False,
        forked: bool = False,
        json_path: str | None = "results.json",
        fresh: bool = True,
    ) -> Run:
        """Run pytest; check results.json, at ``json_path`` and in the run's folder, against the schema.

        A ``forked`` run has a process that is forked from one with the package imported; a ``subprocess`` imports the
        package itself. A ``fresh`` run removes earlier runs.
        """
        if fresh and (self.path / ".rageval").is_dir():
            shutil.rmtree(self.path / ".rageval")
        if json_path is not None:
            (self.path / json_path).unlink(missing_ok=True)
            args = (*args, "--rag-json", json_path)
        for option, plugin in PLUGINS.items():
            if any(arg.partition("=")[0] == option for arg in args):
                args = ("-p", plugin, *args)
        plain = self.pytester.runpytest_subprocess if subprocess else self.pytester.runpytest_inprocess
        result = (self._forked if forked else plain)(*args)
        return Run(result, self.read(json_path))

    def _forked(self, *args: str) -> pytest.RunResult:
        start = time.monotonic()
        with open(os.devnull) as nothing, TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
            status = self.process(args, (nothing.fileno(), output.fileno(), errors.fileno())).wait(300)
            for stream in (output, errors):
                stream.seek(0)
            lines = output.read().splitlines(), errors.read().splitlines()
        return pytest.RunResult(status, *lines, time.monotonic() - start)

    def command(self, *args: str) -> CompletedProcess[str]:
        """Run the command `rageval` within this process, in the project."""
        snapshots = SysModulesSnapshot(), SysPathsSnapshot()
        out, err = StringIO(), StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                status = main(args)
        finally:
            for snapshot in snapshots:
                snapshot.restore()
        return CompletedProcess(args, status, out.getvalue(), err.getvalue())

    def started(self, *args: str) -> Process:
        """Start pytest in a process group of its own; its output goes to output.txt."""
        with open(os.devnull) as nothing, (self.path / "output.txt").open("ab") as output:
            return self.process(args, (nothing.fileno(), output.fileno(), output.fileno()))

    def process(
        self,
        args: Sequence[str],
        streams: Sequence[int],
        environment: Mapping[str, str] = os.environ,
        program: str = "pytest",
    ) -> Process:
        """Start pytest or `rageval` in a process group of its own, with these three streams.

        On Linux it is forked if it can be.
        """
        if sys.platform == "linux" and "PYTHONIOENCODING" not in environment:  # Python reads it as it starts
            return self._server.fork(streams, args, environment, program=program)
        stdin, stdout, stderr = streams
        words = (
            ("-m", "pytest")
            if program == "pytest"
            else ("-c", "from pytest_rageval.cli import main; raise SystemExit(main())")
        )
        return Popen(
            [sys.executable, *words, *args],
            env=environment, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True,
        )  # fmt: skip

    def read(self, json_path: str | None = "results.json") -> Any:
        """Return a valid results.json; the one in the run's folder, if any, must be equal."""
        results = stored = self.stored_results()
        if json_path is not None and (self.path / json_path).exists():
            results = json.loads((self.path / json_path).read_text(encoding="utf-8"))
            assert stored in (None, results)
        if results is not None:
            validate(results)
        return results

    def stored_results(self) -> Any:
        """Return results.json of the last run's folder, or None."""
        paths = sorted(self.path.glob(".rageval/runs/*/results.json"))
        return json.loads(paths[-1].read_text(encoding="utf-8")) if paths else None

    def lines(self) -> list[Any]:
        """Return the records of outcomes.jsonl in the last run's folder."""
        paths = sorted(self.path.glob(".rageval/runs/*/outcomes.jsonl"))
        return [json.loads(line) for line in paths[-1].read_text(encoding="utf-8").splitlines()] if paths else []


VALIDATOR = validator_for(schema())  # 0.1 ms for each of thousands of runs; `jsonschema` takes 10 ms


def validate(results: Mapping[str, Any]) -> None:
    """Assert that ``results`` match the shipped schema."""
    VALIDATOR.validate(results)


def bare(results: Mapping[str, Any]) -> Any:
    """Return results.json without values that differ between equal runs: times, the run's name, the resumed run."""
    copy: Any = json.loads(json.dumps(results))
    for key in ("id", "started", "duration_s"):
        del copy["run"][key]
    copy["run"].pop("resumed", None)
    settings = copy["run"].pop("settings", {})
    settings.pop("rag_concurrency", None)  # it decides times only
    copy["run"] |= {"settings": settings} if settings else {}
    for outcome in copy["outcomes"]:
        for usage in [(outcome["answer"] or {}).get("usage")]:
            if usage:
                del usage["latency_s"]
        for step in (outcome["answer"] or {}).get("trace", ()):
            step["detail"].pop("seconds", None)
    return copy


@pytest.fixture(params=["plain", "n2"])
def mode(request: pytest.FixtureRequest) -> Mode:
    """Arguments that run pytest plain and on two xdist workers; `test_results_written` compares them without xdist."""
    return MODES[request.param]


@pytest.fixture
def project(pytester: pytest.Pytester, worker_server: WorkerServer) -> Project:
    return Project(pytester, worker_server)
