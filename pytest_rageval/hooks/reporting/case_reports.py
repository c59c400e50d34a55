"""Attach each finished case's outcome to its pytest report, as plain JSON values."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.config.process import is_worker, runs_tests
from pytest_rageval.hooks.run.keys import RESULTS

__all__ = [
    "PLAN",
    "pytest_collection_finish",
    "pytest_enter_pdb",
    "pytest_report_teststatus",
    "pytest_runtest_makereport",
]

KEYWORDS = pytest.StashKey[Mapping[str, Any]]()
"""On the config: keywords of the last report. The reports of a case share them, because pytest keeps all reports."""

PLAN = pytest.StashKey[str]()
"""On a worker's config: the plan, until it is sent."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the outcome to the report that ends a case."""
    report = yield
    if ENTRY not in item.stash:
        return report
    stash = item.config.stash
    if stash.get(KEYWORDS, None) != report.keywords:
        stash[KEYWORDS] = report.keywords
    report.keywords = stash[KEYWORDS]
    if call.when == "teardown":
        result = stash.get(RESULTS, {}).pop(item, None)
        if result is not None:
            result.end()
    elif call.when == "call" or not report.passed:
        from pytest_rageval.hooks.reporting.payload import payloads_of

        report.rag = payloads_of(item.config).build(item, report)  # type: ignore[attr-defined]
    return report


@pytest.hookimpl(wrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Generator[None, object, object]:
    """Append the gates to the selected tests, then make the plan.

    Other plugins see the gates from here on. A worker appends no gates: the controller reads them from the plan.
    """
    config, collects = session.config, session.config.option.collectonly
    if COLLECTED in config.stash and (collects or runs_tests(config)) and not is_worker(config):
        from pytest_rageval.hooks.reporting.gate_items import append_collected

        append_collected(session, config.stash[COLLECTED])
    result = yield
    if COLLECTED in config.stash and not collects and runs_tests(config):
        _make_plan(session)
    return result


def _make_plan(session: pytest.Session) -> None:
    """Make the plan of the run, and pass it to the recorder; a worker stores it, to send it to the controller."""
    config = session.config
    from pytest_rageval.hooks.prepare.gate_cases import parts_of_gates
    from pytest_rageval.hooks.prepare.plan import plan_of

    collected = config.stash[COLLECTED]
    nodes = {
        item.nodeid: item.stash[ENTRY] for item in (*collected.resumed_items, *session.items) if ENTRY in item.stash
    }
    plan = plan_of(collected, nodes)
    plan.partial = parts_of_gates(config, collected, nodes, plan)
    collected.items.clear()
    if is_worker(config):
        config.stash[PLAN] = plan.dumps()
    else:
        from pytest_rageval.hooks.reporting.keys import recorder_of

        recorder_of(config).take_plan(plan)


def pytest_enter_pdb(config: pytest.Config) -> None:
    """Stop asking systems ahead when a debugger starts."""
    if COLLECTED in config.stash:
        config.stash[COLLECTED].stop_looking_ahead()


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Show a passed case that missed its gate as ``m`` (MISSED): the gate fails, not the case."""
    payload: dict[str, Any] | None = getattr(report, "rag", None)
    if payload is None or hasattr(report, "wasxfail"):
        return None
    if report.when == "call" and report.passed and payload["missed"]:
        return "missed", "m", ("MISSED", {"yellow": True})
    return None
