"""A small suite that runs beside another plugin, and again without it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.projects.rag_project import Project, Run, cases
from support.projects.suite_files import CONFTEST, LISTENER, SUITE, SYSTEM, TESTS

FAILED_GATE = "test_it.py::test_capital[gate: accuracy >= 0.9]"
PASSED_GATE = "test_it.py::test_capital[gate: accuracy >= 0.5]"
MISSED_CASE = "test_it.py::test_capital[q2]"
FAILED_CASE = "test_it.py::test_checked[q2]"
ERRORS = ("more.rag.toml::suite[q4]", "test_it.py::test_capital[q4]", "test_it.py::test_checked[q4]")
LOADED = ("-p", "pytest_rageval.plugin", "-p", "xdist", "-p", "listener")


@dataclass(frozen=True)
class SuiteRun:
    """One run of the suite: the results of our plugin, and the reports that a listener received."""

    run: Run
    items: list[str]
    reports: list[tuple[str, str, str]]
    overlapped: bool

    @property
    def status(self) -> int:
        return self.run.status

    @property
    def scores(self) -> dict[str, Any]:
        """Status, kind of error and scores of each case, by node id."""
        outcomes = self.run.results["outcomes"]
        return {
            outcome["nodeid"]: (outcome["status"], outcome["error_type"], outcome["scores"]) for outcome in outcomes
        }

    @property
    def gates(self) -> dict[str, str]:
        """Status of each gate, by node id."""
        return {gate["nodeid"]: gate["status"] for gate in self.run.results["gates"]}

    @property
    def ends(self) -> dict[str, str]:
        """How each test ended for other plugins, by node id: passed, failed, skipped or error."""
        ends: dict[str, str] = {}
        for nodeid, when, outcome in self.reports:
            if outcome == "failed" and when != "call":
                outcome = "error"
            if outcome in ("failed", "error", "skipped") or nodeid not in ends:
                ends[nodeid] = outcome
        return ends

    @property
    def order(self) -> list[str]:
        """Node ids of tests in the order in which they ran."""
        return list(dict.fromkeys(nodeid for nodeid, _, _ in self.reports))

    def times(self, nodeid: str, outcome: str) -> int:
        """Return how many reports of a test have that outcome."""
        return sum(name == nodeid and reported == outcome for name, _, reported in self.reports)


class Suite:
    """The suite in a folder of its own, and its run without any other plugin."""

    def __init__(self, project: Project, alone: list[SuiteRun]) -> None:
        self.project = project
        project.data(cases("say Paris", "say Rome", "say Paris", "raise no model"))
        files = {"system.py": SYSTEM, "conftest.py": CONFTEST, "test_it.py": TESTS, "more.rag.toml": SUITE}
        for name, text in {**files, "listener.py": LISTENER, "pytest.ini": "[pytest]\nrag_gates = n >= 1\n"}.items():
            project.file(name, text)
        if not alone:
            alone.append(self.run())
        self.alone = alone[0]

    @property
    def path(self) -> Path:
        return self.project.path

    def run(self, *args: str, fresh: bool = True) -> SuiteRun:
        """Run the suite in a new process that loads our plugin, xdist, the listener and the plugins in ``args``."""
        for name in ("listened.json", "overlapped"):
            (self.path / name).unlink(missing_ok=True)
        run = self.project.run(*LOADED, *args, subprocess=True, fresh=fresh)
        listener_data = json.loads((self.path / "listened.json").read_text(encoding="utf-8"))
        reports = [(name, when, outcome) for name, when, outcome in listener_data["reports"]]
        return SuiteRun(run, listener_data["items"], reports, (self.path / "overlapped").exists())

    def expect_alike(self, result: SuiteRun) -> None:
        """Assert that a run has the scores, the gates, the tests and the exit status of the suite alone."""
        alone = self.alone
        assert {nodeid: result.scores.get(nodeid) for nodeid in alone.scores} == alone.scores
        assert {nodeid: result.gates.get(nodeid) for nodeid in alone.gates} == alone.gates
        assert {nodeid: result.ends.get(nodeid) for nodeid in alone.ends} == alone.ends
        assert result.status == alone.status == 1
        assert not result.items or result.ends.keys() <= set(result.items), "a report belongs to no item"


@dataclass(frozen=True)
class Row:
    """One row of the table in the docs: another plugin, or an option of pytest or xdist.

    Attributes:
        name: the plugin as pip knows it, or the option.
        tried: the version that was tried.
        holds: the statement of the docs about it.
        check: asserts the effect of the plugin on its run.
        args: the arguments that turn it on.
        load: the modules that ``-p`` loads; one that is not installed skips the row.
        files: more files of the suite.
        alike: whether scores, gates and exit status are those of the suite alone.
        in_turn: whether an async system is asked for one case at a time.
    """

    name: str
    tried: str
    holds: str
    check: Callable[[Suite, SuiteRun], None]
    args: tuple[str, ...] = ()
    load: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    alike: bool = True
    in_turn: bool = False

    @property
    def on(self) -> tuple[str, ...]:
        """The arguments that load it and turn it on."""
        option = self.name.split() if self.name.startswith("--") else ()
        return (*option, *(part for module in self.load for part in ("-p", module)), *self.args)

    def skip_where_missing(self) -> None:
        """Skip the test if the plugin is not installed."""
        if any(find_spec(module.partition(".")[0]) is None for module in self.load):
            pytest.skip(f"{self.name} is not installed: pip install 'pytest-rageval[plugins]'")
