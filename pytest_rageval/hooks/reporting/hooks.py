"""Hooks of the main process: record reports, run gates, write results.json."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED, RESUMED
from pytest_rageval.hooks.config.process import is_worker
from pytest_rageval.hooks.reporting.account_printer import recorder_to_report
from pytest_rageval.hooks.reporting.keys import RECORDER
from pytest_rageval.hooks.run.keys import NO_CALL

if TYPE_CHECKING:
    from pytest_rageval.hooks.reporting.crashes import Crashes
    from pytest_rageval.hooks.reporting.gate_items import GateItem

__all__ = ["Reporting", "pytest_sessionfinish"]


class Reporting:
    """Plugin of the main process only (with xdist: the controller)."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._session: pytest.Session | None = None
        self._total = 0  # number of tests, with resumed cases and gates; 0 until it is known
        self._has_reported_resumed = False
        self._crashed: dict[str, str] = {}  # node id -> message
        self._failed: set[str] = set()  # node ids
        self._workers: list[Any] = []
        self._gates: list[GateItem] = []
        self._lost_workers: list[str] = []  # messages

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Store collection errors: with ``--continue-on-collection-errors`` the session continues."""
        if report.failed:
            self._failed.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Move the plan and the outcome of a report to the recorder, because pytest keeps all reports in memory."""
        plan, payload = getattr(report, "rag_plan", None), getattr(report, "rag", None)
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when not in ("setup", "call", "teardown") and hasattr(report, "node"):
            self._crashed[report.nodeid] = str(report.longrepr)
        if plan is not None:
            self._take_plan(plan)
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        if payload is not None:
            self._crashed.pop(report.nodeid, None)  # it ran again
            recorder.take_outcome(payload)
            report.rag = {"missed": payload["missed"]} if payload["missed"] else None  # type: ignore[attr-defined]
        recorder.take_report(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Restore the test count after a crash: xdist then leaves out resumed cases and gates."""
        if self._session is not None and self._session.testscollected < self._total:
            self._session.testscollected = self._total

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Generator[None]:
        """Show the status line if a user watches the terminal; report why workers on other machines cannot start."""
        if getattr(self._config.pluginmanager.getplugin("terminalreporter"), "isatty", False):
            from pytest_rageval.hooks.reporting.status_line import StatusLine, is_watched

            if is_watched(self._config):
                self._config.pluginmanager.register(StatusLine(self._config), "rageval-status")
        if all(spec.endswith("popen") for spec in getattr(self._config.option, "tx", None) or ()):
            return (yield)
        from pytest_rageval.hooks.reporting.remote_workers import reporting_unreachable

        with reporting_unreachable(self._config):
            return (yield)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker what it cannot see: whether the command line has paths, and what all workers share."""
        from pytest_rageval.hooks.config.invocation import is_narrowed
        from pytest_rageval.hooks.config.shared_folder import share_with_worker
        from pytest_rageval.hooks.reporting import remote_workers

        node.workerinput["rag_narrowed"] = is_narrowed(self._config)
        self._workers.append(node)
        node.workerinput["rag_steals"] = self._config.option.dist == "worksteal"
        is_remote = remote_workers.has_remote_workers(node)
        if is_remote:
            remote_workers.set_up_worker(node)
        remote_workers.ignore_send_errors(node)
        share_with_worker(self._config, node.workerinput, alone=is_remote)
        if RESUMED in self._config.stash:
            from pytest_rageval.hooks.prepare.resume import send_resumed_run

            send_resumed_run(self._config, node.workerinput)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Count a worker's calls without an outcome, and use its plan if it sent no report."""
        self._take_unclaimed(node)
        if error is not None:
            from pytest_rageval.hooks.reporting.remote_workers import replace_locally

            replace_locally(node, self._lost_workers.append)
        plan = (getattr(node, "workeroutput", None) or {}).get("rag_plan")
        if plan is not None:
            self._take_plan(plan)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Report the finished cases of a resumed run before the first test."""
        self._report_resumed()
        if COLLECTED in item.config.stash:
            from pytest_rageval.hooks.run.journal import note_running

            note_running(item)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Run the gates after all cases, also if the session stopped at a failure."""
        self._session = session
        self._add_to_test_count()
        self._remove_gates(session)
        try:
            result = yield
            self._report_resumed()
            if self._crashes is not None:
                self._crashes.run_alone()
        except BaseException as error:
            if self._crashes is not None:
                self._crashes.give_up()
            self._run_gates(interrupted=not _stopped_at_failure(session, error))
            if str(error).startswith(NO_CALL):  # xdist turns this failure into an interrupt
                session.shouldfail = str(error)
                raise session.Failed(session.shouldfail) from None
            raise
        else:
            self._run_gates(interrupted=False)
        finally:
            session.items.extend(self._gates)
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write results.json, and let ``--lf`` rerun the cases of a gate that failed.

        If a requested report cannot be written, a passing session fails: the next step would read an old file.
        """
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        for node in self._workers:
            self._take_unclaimed(node)
        shard = recorder.run.plan.shard
        if shard is not None and shard.cases and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK  # all cases belong to other shards
        if not recorder.finish(int(session.exitstatus)) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        from pytest_rageval.hooks.reporting.synthetic_reports import store_failed_cases

        store_failed_cases(self._config, recorder.run.gates, recorder.run.plan.cases)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the sections that come before pytest's short summary."""
        recorder = recorder_to_report(self._config)
        if recorder is not None:
            from pytest_rageval.hooks.reporting.summary import print_summary

            print_summary(terminalreporter, recorder, self._lost_workers)

    def _take_unclaimed(self, node: Any) -> None:
        """Count a worker's calls without an outcome, once; after an interrupt, xdist does not report its end."""
        output = getattr(node, "workeroutput", None) or {}
        if "rag_unclaimed" in output and RECORDER in self._config.stash:
            self._config.stash[RECORDER].take_counted(node.gateway.id, output)
        unclaimed, faults = output.pop("rag_unclaimed", None), output.pop("rag_faults", ())
        dropped = output.pop("rag_dropped_steps", 0)
        if unclaimed is not None or faults or dropped:
            from pytest_rageval.hooks.reporting.keys import recorder_of

            recorder = recorder_of(self._config)
            recorder.take_unclaimed(*(unclaimed or ({}, ())))
            recorder.dropped_steps += dropped
            for fault in faults:
                recorder.take_fault(fault)

    def _take_plan(self, text: str) -> None:
        """Use the plan of the first worker that sends it; the others send the same plan."""
        from pytest_rageval.hooks.reporting.keys import recorder_of
        from pytest_rageval.report.run.plan import Plan

        recorder = recorder_of(self._config)
        if not recorder.run.plan.testbeds:
            recorder.take_plan(Plan.loads(text))
        self._add_to_test_count()
        self._report_resumed()

    def _add_to_test_count(self) -> None:
        """Add the resumed cases to pytest's test count, and with xdist the gates."""
        recorder, session = self._config.stash.get(RECORDER, None), self._session
        if recorder is None or session is None or self._total or not recorder.run.plan.testbeds:
            return
        session.testscollected += len(recorder.taken_over)
        if self._config.pluginmanager.hasplugin("dsession"):
            from pytest_rageval.hooks.reporting.gate_items import planned_items

            self._gates = planned_items(session, recorder.run.plan)
            session.testscollected += len(self._gates)
        self._total = session.testscollected

    def _remove_gates(self, session: pytest.Session) -> None:
        """Remove the gates from pytest's loop, because ``-x`` and ``--sw`` end the loop at the first failure."""
        if RECORDER in self._config.stash:
            from pytest_rageval.hooks.reporting.gate_items import GateItem

            self._gates += [item for item in session.items if isinstance(item, GateItem)]
            session.items[:] = [item for item in session.items if not isinstance(item, GateItem)]

    def _report_resumed(self) -> None:
        """Report the finished cases of a resumed run, once, inside the loop: pytest ignores failures before it."""
        recorder, session = self._config.stash.get(RECORDER, None), self._session
        if recorder is None or session is None or self._has_reported_resumed:
            return
        self._has_reported_resumed = bool(recorder.run.plan.testbeds)
        from pytest_rageval.hooks.reporting.synthetic_reports import send_reports

        for nodeid in recorder.taken_over:
            send_reports(self._config, recorder.reports_of(nodeid))
            if session.shouldfail:  # the case failed, and -x is given
                self._stop(session)
                return

    def _stop(self, session: pytest.Session) -> None:
        """Stop before the next test, as pytest or xdist does after a failure."""
        controller = self._config.pluginmanager.getplugin("dsession")
        if controller is None:
            raise session.Failed(session.shouldfail)
        controller.shouldstop = session.shouldfail

    @property
    def _crashes(self) -> Crashes | None:
        """The plugin that reruns tests of dead workers; None without xdist."""
        crashes: Crashes | None = self._config.pluginmanager.getplugin("rageval-crashes")
        return crashes

    def _run_gates(self, *, interrupted: bool) -> None:
        """Evaluate the gates, and run their items unless the user ended the session."""
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        recorder.evaluate(self._crashed, self._failed, interrupted=interrupted)
        if interrupted:
            return
        results = {named_gate.nodeid: named_gate.result for named_gate in recorder.run.gates}
        for gate, following in zip(self._gates, [*self._gates, None][1:], strict=True):
            gate.result = results[gate.nodeid]
            self._config.hook.pytest_runtest_protocol(item=gate, nextitem=following)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the event loop of a process that asked systems, and report its calls without an outcome."""
    config = session.config
    collected = config.stash.get(COLLECTED, None)
    if collected is None:
        return
    from dataclasses import asdict

    from pytest_rageval.hooks.run.current_test import remove_variable

    meter = collected.close()
    remove_variable()
    unclaimed = (asdict(meter.calls), meter.keys) if meter.calls.calls else None
    if is_worker(config):
        output = {"rag_faults": collected.faults, "rag_dropped_steps": collected.dropped_steps}
        config.workeroutput.update(rag_unclaimed=unclaimed, **output)  # type: ignore[attr-defined]
    elif RECORDER in config.stash:
        config.stash[RECORDER].counted.add("main")
        config.stash[RECORDER].dropped_steps += collected.dropped_steps
        for fault in collected.faults:
            config.stash[RECORDER].take_fault(fault)
        if unclaimed is not None:
            config.stash[RECORDER].take_unclaimed(*unclaimed)


def _stopped_at_failure(session: pytest.Session, error: BaseException) -> bool:
    """Return whether the session stopped at a failure (with ``-x``, for example), not because of the user."""
    if isinstance(error, (session.Failed, session.Interrupted)):
        return True
    # Xdist raises one exception for both: only its text separates -x from an interrupt that reached a worker first.
    return type(error).__module__ == "xdist.dsession" and "keyboard-interrupt" not in str(error)
