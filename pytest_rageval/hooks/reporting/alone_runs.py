"""Run suspect tests alone in new xdist workers; their reports count like all others."""

from __future__ import annotations

import copy
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Any

import pytest

__all__ = ["AloneRuns", "Death", "exit_of"]

PHASES = ("setup", "call", "teardown")

LIMIT_S = 600.0
"""Seconds without a report before a process is stopped. ``--timeout`` of pytest-timeout applies too."""


@dataclass(frozen=True, slots=True)
class Death:
    """A test that ended its process when nothing else was in flight.

    Attributes:
        nodeid: the test.
        phase: the phase that ran: "setup", "call" or "teardown"; "" if the process died before the test began.
        how: how its process ended, as a verb.
    """

    nodeid: str
    phase: str
    how: str


@dataclass(slots=True)
class _Row:
    """A process and its remaining tests; the first one is running.

    Attributes:
        tests: node ids of the tests that have not ended.
        last_event: time of its last report.
        fresh: whether it has run no other test before.
        phases: number of reports that the running test has sent; None if it has not begun.
        overdue: whether it was stopped because it reported nothing for too long.
    """

    tests: list[str]
    last_event: float
    fresh: bool = True
    phases: int | None = None
    overdue: bool = False


class AloneRuns:
    """Runs tests with nothing else in flight: one at a time per process, in as many processes as there are workers.

    If a process dies, its running test runs again in a new process. Only if that process dies too, the test is the
    cause. This way a session starts few processes for many tests.

    Args:
        controller: xdist's plugin of the main process, whose own workers have ended.
        reporters: node id of a test -> the worker that its reports name as their source.
    """

    def __init__(self, controller: Any, reporters: Mapping[str, Any]) -> None:
        self._controller = controller
        self._reporters = reporters
        self._manager = controller.nodemanager
        self._events: Queue[tuple[str, dict[str, Any]]] = Queue()
        self._rows: dict[Any, _Row] = {}
        tests, most = list(reporters), len(self._manager.specs)
        self._waiting = [row for at in range(most) if (row := tests[at::most])]

    def deaths(self) -> Iterator[Death]:
        """Run the tests and yield those that end their process; stop if the session stops, for example by ``-x``."""
        with self._killing_the_rest():
            while (self._waiting or self._rows) and not self._controller.shouldstop:
                while self._waiting and len(self._rows) < len(self._manager.specs):
                    self._start(self._waiting.pop(0))
                death = self._event()
                if death is not None:
                    yield death

    def _start(self, tests: list[str]) -> None:
        spec = copy.copy(self._manager.specs[0])
        spec.id = None
        self._manager.group.allocate_id(spec)
        node = self._manager.setup_node(spec, self._events.put)
        self._rows[node] = _Row(tests, time.monotonic())

    def _event(self) -> Death | None:
        """Process one event; return the death that it reports, if any."""
        try:
            name, arguments = self._events.get(timeout=1.0)
        except Empty:
            self._stop_overdue()
            return None
        row = self._rows.get(arguments["node"]) if "node" in arguments else None
        take: Callable[..., Death | None] | None = getattr(self, f"_take_{name}", None)
        if row is None or take is None:
            return None
        row.last_event = time.monotonic()
        return take(row, **arguments)

    def _take_workerready(self, row: _Row, node: Any, workerinfo: dict[str, Any]) -> None:
        node.workerinfo = {**workerinfo, "id": node.gateway.id, "spec": node.gateway.spec}
        self._controller.config.hook.pytest_testnodeready(node=node)

    def _take_collectionfinish(self, row: _Row, node: Any, ids: list[str]) -> None:
        row.tests = [nodeid for nodeid in row.tests if nodeid in ids]
        node.send_runtest_some([ids.index(nodeid) for nodeid in row.tests])
        node.shutdown()

    def _take_logstart(self, row: _Row, node: Any, **arguments: Any) -> None:
        row.phases = 0
        self._controller.worker_logstart(node=self._reporter(row), **arguments)

    def _take_testreport(self, row: _Row, node: Any, rep: Any) -> None:
        if getattr(rep, "rag_plan", None) is None:  # the session already has its plan
            row.phases = (row.phases or 0) + 1
            self._controller.worker_testreport(node=self._reporter(row), rep=rep)

    def _take_logfinish(self, row: _Row, node: Any, **arguments: Any) -> None:
        self._controller.worker_logfinish(node=self._reporter(row), **arguments)

    def _take_runtest_protocol_complete(self, row: _Row, node: Any, **_: Any) -> None:
        row.tests.pop(0)
        row.fresh, row.phases = False, None

    def _take_collectreport(self, row: _Row, node: Any, rep: Any) -> None:
        self._controller.worker_collectreport(node=node, rep=rep)

    def _take_warning_recorded(self, row: _Row, node: Any, **arguments: Any) -> None:
        self._controller.worker_warning_recorded(node=node, **arguments)

    def _take_internal_error(self, row: _Row, node: Any, formatted_error: str) -> None:
        del self._rows[node]
        self._controller._active_nodes.add(node)
        self._controller.worker_internal_error(node=node, formatted_error=formatted_error)

    def _take_workerfinished(self, row: _Row, node: Any) -> None:
        """Process a worker's end; it may stop the session, for example if a model refuses every call."""
        del self._rows[node]
        self._controller.config.hook.pytest_testnodedown(node=node, error=None)
        if node.workeroutput["exitstatus"] == pytest.ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        stop = node.workeroutput["shouldfail"] or node.workeroutput["shouldstop"]
        self._controller.shouldstop = self._controller.shouldstop or stop

    def _take_errordown(self, row: _Row, node: Any, error: object) -> Death | None:
        """Process a worker's death; if it ran other tests before, schedule its last test again, alone."""
        del self._rows[node]
        self._controller.config.hook.pytest_testnodedown(node=node, error=error)
        if not row.tests:
            return None
        nodeid, *rest = row.tests
        if rest and row.phases is not None:
            self._waiting.append(rest)
        phase = PHASES[min(row.phases, len(PHASES) - 1)] if row.phases is not None else ""
        if row.overdue:
            return Death(nodeid, phase, f"reported nothing for {LIMIT_S:.0f} s and was stopped")
        if row.fresh or phase == PHASES[-1]:
            return Death(nodeid, phase, f"died{exit_of(node)}")
        self._waiting.append([nodeid])
        return None

    def _reporter(self, row: _Row) -> Any:
        return self._reporters[row.tests[0]]

    def _stop_overdue(self) -> None:
        for node, row in self._rows.items():
            if not row.overdue and time.monotonic() - row.last_event > LIMIT_S:
                row.overdue = True
                _kill(node)

    @contextmanager
    def _killing_the_rest(self) -> Iterator[None]:
        """Kill the remaining processes however the runs end."""
        try:
            yield
        finally:
            for node in self._rows:
                _kill(node)


def exit_of(node: Any) -> str:
    """Return how a worker's process ended, as `` with exit code 3``; "" if unknown."""
    process = getattr(getattr(node.gateway, "_io", None), "popen", None)
    if process is None or not node.gateway.spec.popen:
        return ""
    try:
        code = process.wait(timeout=5)
    except Exception:  # it is still running, or execnet has already waited for it
        return ""
    if code >= 0:
        return f" with exit code {code}"
    with suppress(ValueError):
        return f" with signal {signal.Signals(-code).name}"
    return f" with signal {-code}"


def _kill(node: Any) -> None:
    with suppress(Exception):  # a process that cannot be reached cannot be killed
        node.gateway._io.kill()
