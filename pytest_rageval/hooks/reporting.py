"""The reporting process's hooks: reports in, gates as tests, the summary, results.json."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_rageval.hooks.keys import COLLECTED, RECORDER

if TYPE_CHECKING:
    from pytest_rageval.report.run import NamedGate
    from pytest_rageval.report.terminal import Line


class Reporting:
    """A plugin of the main process only (with xdist: of the controller)."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._session: pytest.Session | None = None
        self._counted = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the plan and the outcome from a report, and note an item whose worker died."""
        plan, payload = getattr(report, "rag_plan", None), getattr(report, "rag", None)
        crashed = report.when not in ("setup", "call", "teardown")
        if plan is None and payload is None and not (crashed and hasattr(report, "node")):
            return
        from pytest_rageval.hooks.recorder import recorder_of
        from pytest_rageval.report.plan import Plan

        recorder = recorder_of(self._config)
        if plan is not None:
            recorder.take_plan(Plan.loads(plan))
            self._count_gates()
        if payload is not None:
            recorder.take_outcome(payload)
        if crashed:
            recorder.take_crash(report.nodeid, str(report.longrepr))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take the plan of a worker that ended without a single report (all its cases were deselected)."""
        plan = (getattr(node, "workeroutput", None) or {}).get("rag_plan")
        if plan is not None:
            from pytest_rageval.hooks.recorder import recorder_of
            from pytest_rageval.report.plan import Plan

            recorder_of(self._config).take_plan(Plan.loads(plan))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Report every gate as one more test once all cases have ended."""
        self._session = session
        self._count_gates()
        try:
            result = yield
        except (session.Interrupted, session.Failed):
            self._settle(interrupted=False)
            raise
        except KeyboardInterrupt:
            self._settle(interrupted=True)
            raise
        self._settle(interrupted=False)
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write results.json, and let ``--lf`` rerun the cases of a gate that failed."""
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        recorder.finish()
        _remember_failed(self._config, recorder.run.gates, recorder.run.plan.cases)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary."""
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None or not recorder.run.plan.testbeds:
            return
        from pytest_rageval.report.terminal import Line, summary_lines

        verbosity = self._config.option.verbose
        width = terminalreporter._tw.fullwidth
        lines = list(summary_lines(recorder.run, recorder.choice, width, verbosity))
        lines += [Line(f"warning: {fault}", "yellow") for fault in recorder.faults]
        if lines:
            terminalreporter.section("rag")
        for line in lines:
            _write(terminalreporter, line)

    def _count_gates(self) -> None:
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is not None and self._session is not None and not self._counted:
            self._counted = True
            self._session.testscollected += recorder.run.plan.n_gates

    def _settle(self, *, interrupted: bool) -> None:
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        recorder.settle(interrupted=interrupted)
        if not interrupted:
            for gate in recorder.run.gates:
                _report_gate(self._config, gate)


class WorkerReporting:
    """A plugin of xdist workers only: hands the plan over when no report could take it along."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Leave an unsent plan in the worker's output."""
        from pytest_rageval.hooks.runtest import PLAN

        plan = session.config.stash.get(PLAN, None)
        if plan is not None:
            session.config.workeroutput["rag_plan"] = plan  # type: ignore[attr-defined]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the event loop of a process that answered."""
    collected = session.config.stash.get(COLLECTED, None)
    if collected is not None:
        collected.close()


def _report_gate(config: pytest.Config, named: NamedGate) -> None:
    """Fire the reports of one gate, as a test item that ran would."""
    from pytest_rageval.report.terminal import gate_failure

    result, nodeid = named.result, named.nodeid
    path, _, name = nodeid.partition("::")
    location = (path, None, name)
    config.hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
    for when in ("setup", "call", "teardown"):
        longrepr: Any = None
        outcome: Literal["passed", "failed", "skipped"] = "passed"
        if when == "call" and result.status == "failed":
            outcome, longrepr = "failed", gate_failure(result)
        elif when == "call" and result.status == "skipped":
            outcome, longrepr = "skipped", (path, 0, f"Skipped: gate {result.gate}: {result.reason}")
        report = pytest.TestReport(nodeid, location, {}, outcome, longrepr, when, duration=0, start=0, stop=0)
        config.hook.pytest_runtest_logreport(report=report)
    config.hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)


def _remember_failed(
    config: pytest.Config, gates: list[NamedGate], cases: dict[str, tuple[str, str, str, int]]
) -> None:
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


def _write(terminal: pytest.TerminalReporter, line: Line) -> None:
    markup = {line.style: True} if line.style else {}
    terminal.write_line(line.text, **markup)
