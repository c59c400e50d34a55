"""Reports of tests that no item stands for: gates, and cases that another run had ended."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Literal

import pytest

from pytest_rageval.report.run.gate_results import NamedGate
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.sections.gates import gate_failure

__all__ = ["fire", "fire_gate", "remember_failed"]


def fire_gate(config: pytest.Config, named: NamedGate, plan: Plan) -> None:
    """Fire the reports of one gate, as a test item that ran would."""
    result, nodeid = named.result, named.nodeid
    path, _, name = nodeid.partition("::")
    location = (*_place(config, named, plan), name)
    reports = []
    for when in ("setup", "call", "teardown"):
        longrepr: Any = None
        outcome: Literal["passed", "failed", "skipped"] = "passed"
        if when == "call" and result.status == "failed":
            outcome, longrepr = "failed", gate_failure(result)
        elif when == "call" and result.status == "skipped":
            outcome, longrepr = "skipped", (path, 0, f"Skipped: gate {result.gate}: {result.reason}")
        reports.append(pytest.TestReport(nodeid, location, {}, outcome, longrepr, when, duration=0, start=0, stop=0))
    fire(config, reports)


def _place(config: pytest.Config, named: NamedGate, plan: Plan) -> tuple[str, int | None]:
    """Return the file and the line, from 0, of a gate's testbed or, for a gate of the session, of the ini."""
    testbed = plan.testbeds.get(named.nodeid.partition("[gate: ")[0])
    if testbed is not None and testbed.where:
        path, _, line = testbed.where.rpartition(":")
        return path, int(line) - 1
    if named.result.scope != "session" or config.inipath is None:
        return named.nodeid.partition("::")[0], None
    lines = config.inipath.read_text(encoding="utf-8", errors="replace").splitlines()
    written = (at for at, line in enumerate(lines) if str(named.result.gate) in line)
    return os.path.relpath(config.inipath, config.rootpath), next(written, 0)


def fire(config: pytest.Config, reports: Iterable[pytest.TestReport]) -> None:
    """Fire the reports of a test that no item stands for, as one that ran would."""
    first, *others = reports
    config.hook.pytest_runtest_logstart(nodeid=first.nodeid, location=first.location)
    for report in (first, *others):
        config.hook.pytest_runtest_logreport(report=report)
    config.hook.pytest_runtest_logfinish(nodeid=first.nodeid, location=first.location)


def remember_failed(config: pytest.Config, gates: list[NamedGate], cases: dict[str, tuple[str, str, str, int]]) -> None:
    """Put a failed gate's cases where ``--lf`` looks; the gate itself is no item that it could select."""
    cache = getattr(config, "cache", None)
    if cache is None or not gates:
        return
    stored = cache.get("cache/lastfailed", {})
    remembered = {nodeid: True for nodeid in stored if "[gate: " not in nodeid}
    for named in gates:
        if named.result.status == "failed":
            testbed = named.nodeid.partition("[gate: ")[0]
            everywhere = named.result.scope == "session"
            remembered.update(
                {nodeid: True for nodeid, planned in cases.items() if everywhere or planned[1] == testbed}
            )
    if remembered != stored:
        cache.set("cache/lastfailed", remembered)
