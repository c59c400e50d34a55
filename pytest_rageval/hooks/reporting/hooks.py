"""Hooks of the reporting process: take reports, run gates, write results.json."""

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
        self._total = 0  # of tests, with resumed cases and gates; 0 until they are known
        self._took_over = False
        self._crashed: dict[str, str] = {}
        self._failed: set[str] = set()
        self._nodes: list[Any] = []
        self._gates: list[GateItem] = []
        self._lost: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note collection errors; with ``--continue-on-collection-errors`` the session continues."""
        if report.failed:
            self._failed.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Move the plan and the outcome from a report, which pytest stores; note an item whose worker died."""
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
        """Count resumed cases and gates again if a worker replaced a dead one: xdist then counts only its tests."""
        if self._session is not None and self._session.testscollected < self._total:
            self._session.testscollected = self._total

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Generator[None]:
        """Show the status line on a watched terminal; report why workers on other machines cannot start."""
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
        """Pass to a worker what it cannot see: whether paths were given, and what all workers share."""
        from pytest_rageval.hooks.config.invocation import is_narrowed
        from pytest_rageval.hooks.config.shared_folder import tell_worker
        from pytest_rageval.hooks.reporting import remote_workers

        node.workerinput["rag_narrowed"] = is_narrowed(self._config)
        self._nodes.append(node)
        node.workerinput["rag_steals"] = self._config.option.dist == "worksteal"
        scattered = remote_workers.is_scattered(node)
        if scattered:
            remote_workers.join(node)
        remote_workers.hold(node)
        tell_worker(self._config, node.workerinput, alone=scattered)
        if RESUMED in self._config.stash:
            from pytest_rageval.hooks.prepare.resume import send_resumed_run

            send_resumed_run(self._config, node.workerinput)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take a worker's calls without an outcome, and its plan if it sent no report."""
        self._take_unclaimed(node)
        if error is not None:
            from pytest_rageval.hooks.reporting.remote_workers import replace_here

            replace_here(node, self._lost.append)
        plan = (getattr(node, "workeroutput", None) or {}).get("rag_plan")
        if plan is not None:
            self._take_plan(plan)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Take over finished cases of another run before the first test."""
        self._take_over()
        if COLLECTED in item.config.stash:
            from pytest_rageval.hooks.run.journal import note_running

            note_running(item)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Run the gates after all cases, also if the session stopped at a failure."""
        self._session = session
        self._count()
        self._set_gates_aside(session)
        try:
            result = yield
            self._take_over()
            if self._crashes is not None:
                self._crashes.run_alone()
        except BaseException as error:
            if self._crashes is not None:
                self._crashes.give_up()
            self._settle(interrupted=not _stopped_itself(session, error))
            if str(error).startswith(NO_CALL):  # a failure, although xdist turns it into an interrupt
                session.shouldfail = str(error)
                raise session.Failed(session.shouldfail) from None
            raise
        else:
            self._settle(interrupted=False)
        finally:
            session.items.extend(self._gates)
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write results.json, and let ``--lf`` rerun the cases of a gate that failed.

        If ``--rag-json`` cannot be written, a passing session fails: the next step would read an old file.
        """
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        for node in self._nodes:
            self._take_unclaimed(node)
        shard = recorder.run.plan.shard
        if shard is not None and shard.cases and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK  # all cases belong to other shards
        if not recorder.finish(int(session.exitstatus)) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        from pytest_rageval.hooks.reporting.synthetic_reports import remember_failed

        remember_failed(self._config, recorder.run.gates, recorder.run.plan.cases)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what comes before pytest's short summary."""
        recorder = recorder_to_report(self._config)
        if recorder is not None:
            from pytest_rageval.hooks.reporting.summary import print_summary

            print_summary(terminalreporter, recorder, self._lost)

    def _take_unclaimed(self, node: Any) -> None:
        """Count a worker's calls without an outcome, once; after an interrupt xdist does not report its end."""
        output = getattr(node, "workeroutput", None) or {}
        if "rag_unclaimed" in output:
            self._counted_by(node.gateway.id, output)
        unclaimed, faults = output.pop("rag_unclaimed", None), output.pop("rag_faults", ())
        dropped = output.pop("rag_dropped_steps", 0)
        if unclaimed is not None or faults or dropped:
            from pytest_rageval.hooks.reporting.keys import recorder_of

            recorder = recorder_of(self._config)
            recorder.take_unclaimed(*(unclaimed or ({}, ())))
            recorder.dropped_steps += dropped
            for fault in faults:
                recorder.take_fault(fault)

    def _counted_by(self, process: str, output: dict[str, Any]) -> None:
        """Note that a process has counted its calls for unreported cases, and what it saw of its systems' calls."""
        if RECORDER in self._config.stash:
            self._config.stash[RECORDER].take_counted(process, output)

    def _take_plan(self, text: str) -> None:
        """Take the plan from the first worker that sends it; the others send the same one."""
        from pytest_rageval.hooks.reporting.keys import recorder_of
        from pytest_rageval.report.run.plan import Plan

        recorder = recorder_of(self._config)
        if not recorder.run.plan.testbeds:
            recorder.take_plan(Plan.loads(text))
        self._count()
        self._take_over()

    def _count(self) -> None:
        """Add the resumed cases to pytest's test count, and with xdist the gates."""
        recorder, session = self._config.stash.get(RECORDER, None), self._session
        if recorder is None or session is None or self._total or not recorder.run.plan.testbeds:
            return
        session.testscollected += len(recorder.taken)
        if self._config.pluginmanager.hasplugin("dsession"):
            from pytest_rageval.hooks.reporting.gate_items import planned_items

            self._gates = planned_items(session, recorder.run.plan)
            session.testscollected += len(self._gates)
        self._total = session.testscollected

    def _set_gates_aside(self, session: pytest.Session) -> None:
        """Remove the gates from pytest's loop, because ``-x`` and ``--sw`` end the loop at a failure."""
        if RECORDER in self._config.stash:
            from pytest_rageval.hooks.reporting.gate_items import GateItem

            self._gates += [item for item in session.items if isinstance(item, GateItem)]
            session.items[:] = [item for item in session.items if not isinstance(item, GateItem)]

    def _take_over(self) -> None:
        """Report the finished cases of another run, once, inside the loop: pytest ignores failures before it."""
        recorder, session = self._config.stash.get(RECORDER, None), self._session
        if recorder is None or session is None or self._took_over:
            return
        self._took_over = bool(recorder.run.plan.testbeds)
        from pytest_rageval.hooks.reporting.synthetic_reports import fire

        for nodeid in recorder.taken:
            fire(self._config, recorder.reports_of(nodeid))
            if session.shouldfail:  # it failed, and -x is given
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

    def _settle(self, *, interrupted: bool) -> None:
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None:
            return
        recorder.settle(self._crashed, self._failed, interrupted=interrupted)
        if interrupted:
            return
        results = {named.nodeid: named.result for named in recorder.run.gates}
        for gate, following in zip(self._gates, [*self._gates, None][1:], strict=True):
            gate.result = results[gate.nodeid]
            self._config.hook.pytest_runtest_protocol(item=gate, nextitem=following)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the event loop of a process that answered, and report its calls without an outcome."""
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


def _stopped_itself(session: pytest.Session, error: BaseException) -> bool:
    """Return whether the session stopped at a failure (``-x``, for example) and not by the user."""
    if isinstance(error, (session.Failed, session.Interrupted)):
        return True
    # In xdist's own exception only the text separates -x from an interrupt that reached a worker first.
    return type(error).__module__ == "xdist.dsession" and "keyboard-interrupt" not in str(error)
