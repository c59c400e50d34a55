"""Rerun the tests of crashed workers one by one at the end; fail only repeated crashes."""

from __future__ import annotations

from collections.abc import Collection, Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.hooks.config.shared_folder import common_folder
from pytest_rageval.hooks.prepare.suspects import ALONE, Suspects
from pytest_rageval.hooks.reporting.keys import RECORDER
from pytest_rageval.hooks.reporting.suspect_reruns import Death, SuspectReruns, describe_exit

__all__ = ["Crashes"]

MAX_NAMED = 3
"""Maximum number of tests that a message names."""


@dataclass(frozen=True, slots=True)
class _Crash:
    """A worker that died.

    Attributes:
        node: the worker.
        how: how its process ended, as `describe_exit` returns it.
        suspects: node ids of its tests in flight.
        scored: node id of its running test if that had reported its score; else "".
    """

    node: Any
    how: str
    suspects: tuple[str, ...]
    scored: str


class Crashes:
    """Plugin of xdist's controller: finds the test that crashed a worker.

    A worker may have several tests in flight, because systems are asked ahead. They are suspects until each of them
    has run alone.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._last_phase: dict[str, str] = {}  # node id -> the last reported phase
        self._crashes: list[_Crash] = []
        self._running_alone = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker whether it only reruns suspects."""
        node.workerinput[ALONE] = self._running_alone

    @pytest.hookimpl(optionalhook=True, wrapper=True)
    def pytest_xdist_make_scheduler(self) -> Generator[None, Any, Any]:
        """Patch xdist's scheduler: it would report the running test of a dead worker as failed."""
        scheduler = yield
        if scheduler is not None:
            scheduler.remove_node = partial(self._remove_node, scheduler, scheduler.remove_node)
        if hasattr(scheduler, "registered_collections"):
            scheduler._reschedule = partial(_reschedule, scheduler, scheduler._reschedule)
        return scheduler

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the last reported phase of each test."""
        if getattr(report, "rag_plan", None) is None:
            self._last_phase[report.nodeid] = str(report.when)

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Store a dead worker's tests in flight before xdist assigns them to another worker."""
        from pytest_rageval.report.files.journals import cases_in_flight, journal_path

        recorder = self._config.stash.get(RECORDER, None)
        if error is None or error == "keyboard-interrupt" or self._running_alone or recorder is None:
            return
        folder, cases = common_folder(self._config), recorder.run.plan.cases
        if folder is None or recorder.folder is None:  # workers on other machines, or nothing can be written
            return
        in_flight = cases_in_flight(journal_path(recorder.folder, node.gateway.id))
        scored = next((nodeid for nodeid in in_flight if self._last_phase.get(nodeid) == "call"), "")
        suspects = [nodeid for nodeid in in_flight if self._last_phase.get(nodeid) not in ("call", "teardown")]
        if scored in cases or not cases.keys().isdisjoint(suspects):
            self._add(_Crash(node, describe_exit(node), tuple(suspects), scored), folder)

    def run_alone(self) -> None:
        """Run each suspect alone after all other tests, and use its reports."""
        waiting = self._waiting()
        if waiting:
            self._announce(waiting)
        controller = self._config.pluginmanager.getplugin("dsession")
        self._running_alone = True
        culprits = set()
        for death in SuspectReruns(controller, waiting).deaths() if waiting else ():
            self._report_culprit(death, waiting[death.nodeid])
            culprits.add(death.nodeid)
        for crash in self._crashes:
            if culprits.isdisjoint(crash.suspects):
                self._report_no_culprit(crash)
        if waiting and controller.shouldstop:
            from xdist.dsession import Interrupted  # type: ignore[import-untyped]

            raise Interrupted(str(controller.shouldstop))

    def give_up(self) -> None:
        """Warn of the suspects that did not run because the session stopped."""
        from pytest_rageval.report.text.lines import counted

        waiting = self._waiting()
        if waiting:
            fault = f"{counted(len(waiting), 'test')} in flight in {self._workers()} did not run"
            self._config.stash[RECORDER].take_fault(f"{fault}, because the session stopped: {_list_few(waiting)}")

    def _waiting(self) -> dict[str, Any]:
        """Return suspect -> its dead worker, for the suspects whose test has not ended."""
        suspects = {nodeid: crash.node for crash in self._crashes for nodeid in crash.suspects}
        return {nodeid: node for nodeid, node in suspects.items() if self._last_phase.get(nodeid) != "teardown"}

    def _remove_node(self, scheduler: Any, remove: Any, node: Any) -> str | None:
        """Remove a worker from xdist's scheduler.

        Return the test that xdist then reports as failed; None if the culprit is not yet known.
        """
        units = getattr(scheduler, "assigned_work", {}).get(node, {})
        for unit in units.values():  # the worker may die between a test's last report and the note that it is complete
            unit.update((nodeid, True) for nodeid in unit if self._last_phase.get(nodeid) == "teardown")
        for completed in [scope for scope, unit in units.items() if all(unit.values())]:
            del units[completed]  # otherwise LoadScope assigns it again, and waits for tests that no worker runs
        culprit: str | None = remove(node)
        crash = next((crash for crash in self._crashes if crash.node is node), None)
        if crash is not None:
            self._reassign(scheduler, culprit, crash)
            return None
        recorder, folder = self._config.stash.get(RECORDER, None), common_folder(self._config)
        if recorder is None or recorder.folder is None or folder is None or culprit not in recorder.run.plan.cases:
            return culprit
        self._add(_Crash(node, describe_exit(node), (culprit,), ""), folder)  # it died between two tests
        return None

    def _reassign(self, scheduler: Any, nodeid: str | None, crash: _Crash) -> None:
        """Assign the test again that xdist blames for a crash, if that test had not begun."""
        has_begun = nodeid in (None, *crash.suspects, crash.scored) or nodeid in self._last_phase
        if not has_begun and not hasattr(scheduler, "assigned_work"):  # LoadScope has assigned it already
            scheduler.mark_test_pending(nodeid)

    def _add(self, crash: _Crash, folder: Path) -> None:
        """Store a crash, and exclude its suspects from the other workers."""
        from pytest_rageval.report.files.paid_calls import paid_by_process

        self._crashes.append(crash)
        recorder = self._config.stash[RECORDER]
        worker, reported = crash.node.gateway.id, recorder.run.outcomes.keys()
        paid = paid_by_process(worker, recorder.folder, reported).rows if recorder.folder is not None else ()
        Suspects(folder).add((nodeid for nodeid in (*crash.suspects, crash.scored) if nodeid), paid)

    def _announce(self, waiting: Collection[str]) -> None:
        """Print that tests now run alone, because the start of their processes takes time."""
        from pytest_rageval.report.text.lines import counted

        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        if terminal is not None and self._config.option.verbose >= 0:
            in_flight = f"{counted(len(waiting), 'test')} in flight in {self._workers()}"
            terminal.write_line(f"\n{in_flight}: each runs again with nothing else in flight")

    def _workers(self) -> str:
        """Return the number of crashed workers for a message, such as ``2 workers that died with exit code 3``."""
        from pytest_rageval.report.text.lines import counted

        how = {crash.how for crash in self._crashes}
        return f"{counted(len(self._crashes), 'worker')} that died{how.pop() if len(how) == 1 else ''}"

    def _report_culprit(self, death: Death, node: Any) -> None:
        """Report a test whose process died again as failed; if the test had not begun, only add a warning."""
        if death.phase:
            self._fail(death.nodeid, death.phase, f"its process {death.how} when the case ran alone", node)
        else:
            fault = f"{death.nodeid} did not run: its process {death.how} before the test began"
            self._config.stash[RECORDER].take_fault(fault)

    def _report_no_culprit(self, crash: _Crash) -> None:
        """Warn of a crash that no suspect repeats alone; if a test was in its teardown, report that test as failed."""
        if not self._last_phase.keys() >= set(crash.suspects):
            return  # some suspects have not run
        if crash.scored:
            self._fail(crash.scored, "teardown", f"its process died{crash.how} after the test", crash.node)
        else:
            fault = f"a worker died{crash.how}, and no test of those that it had in flight ended its process alone"
            self._config.stash[RECORDER].take_fault(f"{fault}: {_list_few(crash.suspects)}")

    def _fail(self, nodeid: str, when: Any, sentence: str, node: Any) -> None:
        """Report a test as failed in a phase, and as ended."""
        path, _, name = nodeid.partition("::")
        failed = pytest.TestReport(nodeid, (path, None, name), {}, "failed", sentence, when)
        ended = pytest.TestReport(nodeid, (path, None, name), {}, "passed", None, "teardown")
        error = None if when == "teardown" else self._config.stash[RECORDER].run.plan.crash_outcome(nodeid, sentence)
        if error is not None:
            from pytest_rageval.model.codec import encode_outcome

            empty: dict[str, Any] = {"instance": None, "recordings": (), "retrievers": (), "versions": {}}
            failed.rag = {"outcome": encode_outcome(error), **empty, "missed": ""}  # type: ignore[attr-defined]
        controller = self._config.pluginmanager.getplugin("dsession")
        for report in [failed] if when == "teardown" else [failed, ended]:
            controller.worker_testreport(node=node, rep=report)
        self._config.hook.pytest_runtest_logfinish(nodeid=nodeid, location=(path, None, name))


def _reschedule(scheduler: Any, reschedule: Any, node: Any) -> None:
    """Assign at least two tests to a worker, and only after it has collected.

    A worker begins a test only when it has the next one. Without this, LoadScope assigns tests too early if two workers
    die at the same time, and waits forever for a new worker that has only one test.
    """
    if node in scheduler.registered_collections:
        reschedule(node)
        if scheduler.workqueue and scheduler._pending_of(scheduler.assigned_work[node]) == 1:
            reschedule(node)


def _list_few(nodeids: Collection[str]) -> str:
    return ", ".join(list(nodeids)[:MAX_NAMED]) + (", ..." if len(nodeids) > MAX_NAMED else "")
