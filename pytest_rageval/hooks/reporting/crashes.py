"""Rerun the tests of dead workers alone at the end; report only the culprit as an error."""

from __future__ import annotations

from collections.abc import Collection, Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.hooks.config.shared_folder import common_folder
from pytest_rageval.hooks.prepare.suspects import ALONE, Suspects
from pytest_rageval.hooks.reporting.alone_runs import AloneRuns, Death, exit_of
from pytest_rageval.hooks.reporting.keys import RECORDER

__all__ = ["Crashes"]

FEW = 3
"""Number of tests that a message names."""


@dataclass(frozen=True, slots=True)
class _Crash:
    """A worker that died.

    Attributes:
        node: the worker.
        how: how its process ended, as `exit_of` returns it.
        suspects: its tests in flight.
        scored: the running test if it already had its score; else "".
    """

    node: Any
    how: str
    suspects: tuple[str, ...]
    scored: str


class Crashes:
    """Plugin of xdist's controller."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reported: dict[str, str] = {}
        self._crashes: list[_Crash] = []
        self._running_alone = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Pass to a worker whether it reruns suspects alone."""
        node.workerinput[ALONE] = self._running_alone

    @pytest.hookimpl(optionalhook=True, wrapper=True)
    def pytest_xdist_make_scheduler(self) -> Generator[None, Any, Any]:
        """Keep xdist from reporting the running test of a dead worker as failed."""
        scheduler = yield
        if scheduler is not None:
            scheduler.remove_node = partial(self._without_verdict, scheduler, scheduler.remove_node)
        if hasattr(scheduler, "registered_collections"):
            scheduler._reschedule = partial(_reschedule, scheduler, scheduler._reschedule)
        return scheduler

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the last reported phase of each test."""
        if getattr(report, "rag_plan", None) is None:
            self._reported[report.nodeid] = str(report.when)

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Note a dead worker's tests in flight before xdist assigns them to another worker."""
        from pytest_rageval.report.files.journals import cases_in_flight, journal_path

        recorder = self._config.stash.get(RECORDER, None)
        if error is None or error == "keyboard-interrupt" or self._running_alone or recorder is None:
            return
        folder, cases = common_folder(self._config), recorder.run.plan.cases
        if folder is None or recorder.folder is None:  # workers on other machines, or nothing can be written
            return
        opened = cases_in_flight(journal_path(recorder.folder, node.gateway.id))
        scored = next((nodeid for nodeid in opened if self._reported.get(nodeid) == "call"), "")
        suspects = [nodeid for nodeid in opened if self._reported.get(nodeid) not in ("call", "teardown")]
        if scored in cases or not cases.keys().isdisjoint(suspects):
            self._note(_Crash(node, exit_of(node), tuple(suspects), scored), folder)

    def run_alone(self) -> None:
        """Run each suspect alone after all other tests, and use its reports."""
        waiting = self._waiting()
        if waiting:
            self._announce(waiting)
        controller = self._config.pluginmanager.getplugin("dsession")
        self._running_alone = True
        died = set()
        for death in AloneRuns(controller, waiting).deaths() if waiting else ():
            self._report_culprit(death, waiting[death.nodeid])
            died.add(death.nodeid)
        for crash in self._crashes:
            if died.isdisjoint(crash.suspects):
                self._report_no_culprit(crash)
        if waiting and controller.shouldstop:
            from xdist.dsession import Interrupted  # type: ignore[import-untyped]

            raise Interrupted(str(controller.shouldstop))

    def give_up(self) -> None:
        """Report the suspects that did not run because the session stopped."""
        from pytest_rageval.report.text.lines import counted

        waiting = self._waiting()
        if waiting:
            fault = f"{counted(len(waiting), 'test')} in flight in {self._workers()} did not run"
            self._config.stash[RECORDER].take_fault(f"{fault}, as the session stopped: {_list_few(waiting)}")

    def _waiting(self) -> dict[str, Any]:
        """Return the suspects that have not ended, each with its dead worker."""
        suspects = {nodeid: crash.node for crash in self._crashes for nodeid in crash.suspects}
        return {nodeid: node for nodeid, node in suspects.items() if self._reported.get(nodeid) != "teardown"}

    def _without_verdict(self, scheduler: Any, remove: Any, node: Any) -> str | None:
        """Remove a worker from xdist's scheduler; return the culprit, or None if it is not yet known."""
        units = getattr(scheduler, "assigned_work", {}).get(node, {})
        for unit in units.values():  # the worker may die between a test's last report and the note that it is complete
            unit.update((nodeid, True) for nodeid in unit if self._reported.get(nodeid) == "teardown")
        for ended in [scope for scope, unit in units.items() if all(unit.values())]:
            del units[ended]  # otherwise LoadScope assigns it again, and waits for tests that no worker runs
        culprit: str | None = remove(node)
        crash = next((crash for crash in self._crashes if crash.node is node), None)
        if crash is not None:
            self._give_back(scheduler, culprit, crash)
            return None
        recorder, folder = self._config.stash.get(RECORDER, None), common_folder(self._config)
        if recorder is None or recorder.folder is None or folder is None or culprit not in recorder.run.plan.cases:
            return culprit
        self._note(_Crash(node, exit_of(node), (culprit,), ""), folder)  # it died between two tests
        return None

    def _give_back(self, scheduler: Any, nodeid: str | None, crash: _Crash) -> None:
        """Assign a dead worker's next test again: it had not begun, but xdist takes it for the one that ran."""
        has_begun = nodeid in (None, *crash.suspects, crash.scored) or nodeid in self._reported
        if not has_begun and not hasattr(scheduler, "assigned_work"):  # LoadScope has assigned it already
            scheduler.mark_test_pending(nodeid)

    def _note(self, crash: _Crash, folder: Path) -> None:
        """Store a crash, and pass its suspects to the other workers."""
        from pytest_rageval.report.files.paid_calls import paid_by_process

        self._crashes.append(crash)
        recorder = self._config.stash[RECORDER]
        worker, reported = crash.node.gateway.id, recorder.run.outcomes.keys()
        paid = paid_by_process(worker, recorder.folder, reported).rows if recorder.folder is not None else ()
        Suspects(folder).add((nodeid for nodeid in (*crash.suspects, crash.scored) if nodeid), paid)

    def _announce(self, waiting: Collection[str]) -> None:
        """Print that tests now run alone: each takes as long as a session takes to start."""
        from pytest_rageval.report.text.lines import counted

        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        if terminal is not None and self._config.option.verbose >= 0:
            in_flight = f"{counted(len(waiting), 'test')} in flight in {self._workers()}"
            terminal.write_line(f"\n{in_flight}: each runs again with nothing else in flight")

    def _workers(self) -> str:
        from pytest_rageval.report.text.lines import counted

        how = {crash.how for crash in self._crashes}
        return f"{counted(len(self._crashes), 'worker')} that died{how.pop() if len(how) == 1 else ''}"

    def _report_culprit(self, death: Death, node: Any) -> None:
        """Report a test that ended its process as failed; if it did not begin, only add a warning."""
        if death.phase:
            self._fail(death.nodeid, death.phase, f"its process {death.how} when the case ran alone", node)
        else:
            fault = f"{death.nodeid} did not run: its process {death.how} before the test began"
            self._config.stash[RECORDER].take_fault(fault)

    def _report_no_culprit(self, crash: _Crash) -> None:
        """Warn that no test of a dead worker ends its process alone; if one was in teardown, report it as failed."""
        if not self._reported.keys() >= set(crash.suspects):
            return  # not all have run
        if crash.scored:
            self._fail(crash.scored, "teardown", f"its process died{crash.how} after the test", crash.node)
        else:
            fault = f"a worker died{crash.how}, and no test of those that it had in flight ended its process alone"
            self._config.stash[RECORDER].take_fault(f"{fault}: {_list_few(crash.suspects)}")

    def _fail(self, nodeid: str, when: Any, sentence: str, node: Any) -> None:
        """Report that a test failed in a phase and ended."""
        path, _, name = nodeid.partition("::")
        failed = pytest.TestReport(nodeid, (path, None, name), {}, "failed", sentence, when)
        ended = pytest.TestReport(nodeid, (path, None, name), {}, "passed", None, "teardown")
        lost = None if when == "teardown" else self._config.stash[RECORDER].run.plan.crash_outcome(nodeid, sentence)
        if lost is not None:
            from pytest_rageval.model.codec import encode_outcome

            nothing: dict[str, Any] = {"instance": None, "recordings": (), "retrievers": (), "versions": {}}
            failed.rag = {"outcome": encode_outcome(lost), **nothing, "missed": ""}  # type: ignore[attr-defined]
        controller = self._config.pluginmanager.getplugin("dsession")
        for report in [failed] if when == "teardown" else [failed, ended]:
            controller.worker_testreport(node=node, rep=report)
        self._config.hook.pytest_runtest_logfinish(nodeid=nodeid, location=(path, None, name))


def _reschedule(scheduler: Any, reschedule: Any, node: Any) -> None:
    """Assign tests to a worker after it has collected, and two at least: a worker begins one when it has the next.

    Without this, LoadScope assigns tests too early if two workers die at once, and waits without end for a new worker
    that has only one.
    """
    if node in scheduler.registered_collections:
        reschedule(node)
        if scheduler.workqueue and scheduler._pending_of(scheduler.assigned_work[node]) == 1:
            reschedule(node)


def _list_few(nodeids: Collection[str]) -> str:
    return ", ".join(list(nodeids)[:FEW]) + (", ..." if len(nodeids) > FEW else "")
