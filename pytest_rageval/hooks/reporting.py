"""The reporting process's hooks: reports in, gates as tests, the summary, results.json."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_rageval.hooks.keys import COLLECTED, NO_CALL, RECORDER, RESUMED, is_worker

if TYPE_CHECKING:
    from pytest_rageval.report.lines import Line
    from pytest_rageval.report.run import NamedGate

__all__ = ["Reporting", "WorkerReporting", "pytest_sessionfinish"]


class Reporting:
    """A plugin of the main process only (with xdist: of the controller)."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._session: pytest.Session | None = None
        self._counted = False
        self._took_over = False
        self._crashed: dict[str, str] = {}
        self._nodes: list[Any] = []

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the plan and the outcome from a report, and note an item whose worker died.

        Pytest keeps every report, so what was taken and stands elsewhere is taken off it.
        """
        plan, payload = getattr(report, "rag_plan", None), getattr(report, "rag", None)
        if report.when not in ("setup", "call", "teardown") and hasattr(report, "node"):
            self._crashed[report.nodeid] = str(report.longrepr)
        if plan is not None:
            self._take_plan(plan)
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        if payload is not None:
            self._crashed.pop(report.nodeid, None)  # what crashed was run again
            recorder.take_outcome(payload)
            report.rag = {"missed": payload["missed"]}  # type: ignore[attr-defined]
        recorder.take_report(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker what it cannot see: whether paths were given, and what it shares with the others."""
        from pytest_rageval.hooks.given import is_narrowed
        from pytest_rageval.hooks.shared import tell_worker

        node.workerinput["rag_narrowed"] = is_narrowed(self._config)
        self._nodes.append(node)
        node.workerinput["rag_steals"] = self._config.option.dist == "worksteal"
        tell_worker(self._config, node.workerinput)
        if RESUMED in self._config.stash:
            from pytest_rageval.hooks.resuming import tell_resumed

            tell_resumed(self._config, node.workerinput)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take what a worker asked for no outcome, and its plan if it ended without a single report."""
        self._take_unclaimed(node)
        plan = (getattr(node, "workeroutput", None) or {}).get("rag_plan")
        if plan is not None:
            self._take_plan(plan)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        """Take over what another run had ended, ahead of the first test."""
        self._take_over()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Report every gate as one more test once all cases have ended."""
        self._session = session
        self._count()
        try:
            result = yield
            self._take_over()
        except BaseException as error:
            self._settle(interrupted=not _stopped_itself(session, error))
            if str(error).startswith(NO_CALL):  # a failure also where xdist makes it an interrupt
                session.shouldfail = str(error)
                raise session.Failed(session.shouldfail) from None
            raise
        self._settle(interrupted=False)
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write results.json, and let ``--lf`` rerun the cases of a gate that failed.

        A ``--rag-json`` that could not be written fails a session that would have passed: who asked for the
        file reads it next, and would read an old one.
        """
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        for node in self._nodes:
            self._take_unclaimed(node)
        if not recorder.finish() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        _remember_failed(self._config, recorder.run.gates, recorder.run.plan.cases)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the summary."""
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None or not recorder.run.plan.testbeds:
            return
        from pytest_rageval.report.lines import Line
        from pytest_rageval.report.terminal import summary_lines

        verbosity = self._config.option.verbose
        width = terminalreporter._tw.fullwidth
        lines = list(summary_lines(recorder.run, recorder.choice, width, verbosity))
        lines += [Line(f"warning: {fault}", "yellow") for fault in recorder.faults]
        if lines:
            terminalreporter.write_sep("=", "rag")
        for line in lines:
            _write(terminalreporter, line)

    def _take_unclaimed(self, node: Any) -> None:
        """Count what a worker asked for no outcome, once; after an interrupt nobody tells that it is down."""
        unclaimed = (getattr(node, "workeroutput", None) or {}).pop("rag_unclaimed", None)
        if unclaimed is not None:
            from pytest_rageval.hooks.recorder import recorder_of

            recorder_of(self._config).take_unclaimed(*unclaimed)

    def _take_plan(self, text: str) -> None:
        """Take the plan that a worker hands over."""
        from pytest_rageval.hooks.recorder import recorder_of
        from pytest_rageval.report.plan import Plan

        recorder_of(self._config).take_plan(Plan.loads(text))
        self._count()
        self._take_over()

    def _count(self) -> None:
        """Count the cases that are taken over, and the gates, among the tests.

        No gate is counted where no test was selected: then pytest's exit status says so.
        """
        recorder, session = self._config.stash.get(RECORDER, None), self._session
        if recorder is None or session is None or self._counted:
            return
        session.testscollected += len(recorder.taken)
        if session.testscollected:
            self._counted = True
            session.testscollected += recorder.run.plan.n_gates

    def _take_over(self) -> None:
        """Report the cases that another run had ended, once: pytest takes what fails before its loop for no test."""
        recorder, session = self._config.stash.get(RECORDER, None), self._session
        if recorder is None or session is None or self._took_over:
            return
        self._took_over = bool(recorder.run.plan.testbeds)
        for nodeid in recorder.taken:
            _report(self._config, recorder.reports_of(nodeid))
            if session.shouldfail:  # it failed, and -x is given
                self._stop(session)
                return

    def _stop(self, session: pytest.Session) -> None:
        """Stop before the next test, as pytest or xdist would for a failure of that test."""
        controller = self._config.pluginmanager.getplugin("dsession")
        if controller is None:
            raise session.Failed(session.shouldfail)
        controller.shouldstop = session.shouldfail

    def _settle(self, *, interrupted: bool) -> None:
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        recorder.settle(self._crashed, interrupted=interrupted)
        if not interrupted:
            for gate in recorder.run.gates:
                _report_gate(self._config, gate)


class WorkerReporting:
    """A plugin of xdist workers only: hands the plan over."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Send the plan ahead of the first test, which may be the one that ends this process."""
        from pytest_rageval.hooks.runtest import PLAN

        plan = item.config.stash.get(PLAN, None)
        if plan is not None:
            del item.config.stash[PLAN]
            report = pytest.TestReport(item.nodeid, item.location, {}, "passed", None, "setup", rag_plan=plan)
            item.config.hook.pytest_runtest_logreport(report=report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Leave a plan that no test took along in the worker's output."""
        from pytest_rageval.hooks.runtest import PLAN

        plan = session.config.stash.get(PLAN, None)
        if plan is not None:
            session.config.workeroutput["rag_plan"] = plan  # type: ignore[attr-defined]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the event loop of a process that answered, and tell what it asked for no outcome."""
    config = session.config
    collected = config.stash.get(COLLECTED, None)
    if collected is None:
        return
    from dataclasses import asdict

    meter = collected.close()
    unclaimed = asdict(meter.calls), meter.keys
    if not meter.calls.calls:
        return
    if is_worker(config):
        config.workeroutput["rag_unclaimed"] = unclaimed  # type: ignore[attr-defined]
    elif RECORDER in config.stash:
        config.stash[RECORDER].take_unclaimed(*unclaimed)


def _stopped_itself(session: pytest.Session, error: BaseException) -> bool:
    """Return whether the session stopped for a failure (``-x`` and the like), not for the user."""
    if isinstance(error, (session.Failed, session.Interrupted)):
        return True
    # Of xdist's own exception the text alone tells -x from an interrupt that reached a worker first.
    return type(error).__module__ == "xdist.dsession" and "keyboard-interrupt" not in str(error)


def _report_gate(config: pytest.Config, named: NamedGate) -> None:
    """Fire the reports of one gate, as a test item that ran would."""
    from pytest_rageval.report.gate_lines import gate_failure

    result, nodeid = named.result, named.nodeid
    path, _, name = nodeid.partition("::")
    location = (path, None, name)
    reports = []
    for when in ("setup", "call", "teardown"):
        longrepr: Any = None
        outcome: Literal["passed", "failed", "skipped"] = "passed"
        if when == "call" and result.status == "failed":
            outcome, longrepr = "failed", gate_failure(result)
        elif when == "call" and result.status == "skipped":
            outcome, longrepr = "skipped", (path, 0, f"Skipped: gate {result.gate}: {result.reason}")
        reports.append(pytest.TestReport(nodeid, location, {}, outcome, longrepr, when, duration=0, start=0, stop=0))
    _report(config, reports)


def _report(config: pytest.Config, reports: Iterable[pytest.TestReport]) -> None:
    """Fire the reports of a test that no item stands for, as one that ran would."""
    first, *others = reports
    config.hook.pytest_runtest_logstart(nodeid=first.nodeid, location=first.location)
    for report in (first, *others):
        config.hook.pytest_runtest_logreport(report=report)
    config.hook.pytest_runtest_logfinish(nodeid=first.nodeid, location=first.location)


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
