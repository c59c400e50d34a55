"""Rerun suspect tests one at a time in new xdist workers; their reports count like all others."""

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

__all__ = ["Death", "SuspectReruns", "describe_exit"]

PHASES = ("setup", "call", "teardown")

LIMIT_S = 600.0
"""Seconds without a report before a process is killed. ``--timeout`` of pytest-timeout also applies."""


@dataclass(frozen=True, slots=True)
class Death:
    """A test whose process died while it ran alone.

    Attributes:
        nodeid: the node id of the test.
        phase: the phase that ran: "setup", "call" or "teardown"; "" if the process died before the test began.
        how: how the process ended, such as ``died with signal SIGKILL``.
    """

    nodeid: str
    phase: str
    how: str


@dataclass(slots=True)
class _Queue:
    """The remaining tests of one process; the first one is running.

    Attributes:
        tests: node ids of the tests that have not ended.
        last_event: time of the last event of the process, in seconds of the monotonic clock.
        fresh: whether the process has completed no test yet.
        phases: number of reports that the running test has sent; None if it has not begun.
        overdue: whether the process was killed because it reported nothing for `LIMIT_S`.
    """

    tests: list[str]
    last_event: float
    fresh: bool = True
    phases: int | None = None
    overdue: bool = False


class SuspectReruns:
    """Runs each process's tests one at a time, in as many processes as the session has workers.

    If a process dies, its running test runs again as the first test of a new process. If that process also dies, the
    test is the cause. This way a session needs few processes for many tests.

    Args:
        controller: xdist's plugin of the main process; the session's own workers have ended.
        reporters: node id of a test -> the worker to name as the source of its reports.
    """

    def __init__(self, controller: Any, reporters: Mapping[str, Any]) -> None:
        self._controller = controller
        self._reporters = reporters
        self._manager = controller.nodemanager
        self._events: Queue[tuple[str, dict[str, Any]]] = Queue()
        self._queues: dict[Any, _Queue] = {}
        tests, n_processes = list(reporters), len(self._manager.specs)
        self._waiting = [share for at in range(n_processes) if (share := tests[at::n_processes])]

    def deaths(self) -> Iterator[Death]:
        """Run the tests, and yield those whose process dies; stop if the session stops, for example with ``-x``."""
        with self._kill_remaining():
            while (self._waiting or self._queues) and not self._controller.shouldstop:
                while self._waiting and len(self._queues) < len(self._manager.specs):
                    self._start(self._waiting.pop(0))
                death = self._process_event()
                if death is not None:
                    yield death

    def _start(self, tests: list[str]) -> None:
        """Start a process that runs these tests."""
        spec = copy.copy(self._manager.specs[0])
        spec.id = None
        self._manager.group.allocate_id(spec)
        node = self._manager.setup_node(spec, self._events.put)
        self._queues[node] = _Queue(tests, time.monotonic())

    def _process_event(self) -> Death | None:
        """Process one event of a process, if there is one; return the death that it reports, or None."""
        try:
            name, arguments = self._events.get(timeout=1.0)
        except Empty:
            self._kill_overdue()
            return None
        queue = self._queues.get(arguments["node"]) if "node" in arguments else None
        handler: Callable[..., Death | None] | None = getattr(self, f"_on_{name}", None)
        if queue is None or handler is None:
            return None
        queue.last_event = time.monotonic()
        return handler(queue, **arguments)

    def _on_workerready(self, queue: _Queue, node: Any, workerinfo: dict[str, Any]) -> None:
        node.workerinfo = {**workerinfo, "id": node.gateway.id, "spec": node.gateway.spec}
        self._controller.config.hook.pytest_testnodeready(node=node)

    def _on_collectionfinish(self, queue: _Queue, node: Any, ids: list[str]) -> None:
        queue.tests = [nodeid for nodeid in queue.tests if nodeid in ids]
        node.send_runtest_some([ids.index(nodeid) for nodeid in queue.tests])
        node.shutdown()

    def _on_logstart(self, queue: _Queue, node: Any, **arguments: Any) -> None:
        queue.phases = 0
        self._controller.worker_logstart(node=self._reporter(queue), **arguments)

    def _on_testreport(self, queue: _Queue, node: Any, rep: Any) -> None:
        if getattr(rep, "rag_plan", None) is None:  # the session already has its plan
            queue.phases = (queue.phases or 0) + 1
            self._controller.worker_testreport(node=self._reporter(queue), rep=rep)

    def _on_logfinish(self, queue: _Queue, node: Any, **arguments: Any) -> None:
        self._controller.worker_logfinish(node=self._reporter(queue), **arguments)

    def _on_runtest_protocol_complete(self, queue: _Queue, node: Any, **_: Any) -> None:
        queue.tests.pop(0)
        queue.fresh, queue.phases = False, None

    def _on_collectreport(self, queue: _Queue, node: Any, rep: Any) -> None:
        self._controller.worker_collectreport(node=node, rep=rep)

    def _on_warning_recorded(self, queue: _Queue, node: Any, **arguments: Any) -> None:
        self._controller.worker_warning_recorded(node=node, **arguments)

    def _on_internal_error(self, queue: _Queue, node: Any, formatted_error: str) -> None:
        del self._queues[node]
        self._controller._active_nodes.add(node)
        self._controller.worker_internal_error(node=node, formatted_error=formatted_error)

    def _on_workerfinished(self, queue: _Queue, node: Any) -> None:
        """Note that a worker ended; it may stop the session, for example if a model refuses every call."""
        del self._queues[node]
        self._controller.config.hook.pytest_testnodedown(node=node, error=None)
        if node.workeroutput["exitstatus"] == pytest.ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        stop = node.workeroutput["shouldfail"] or node.workeroutput["shouldstop"]
        self._controller.shouldstop = self._controller.shouldstop or stop

    def _on_errordown(self, queue: _Queue, node: Any, error: object) -> Death | None:
        """Return the death of a worker's running test; if the worker ran other tests before, rerun the test first."""
        del self._queues[node]
        self._controller.config.hook.pytest_testnodedown(node=node, error=error)
        if not queue.tests:
            return None
        nodeid, *following = queue.tests
        if following and queue.phases is not None:
            self._waiting.append(following)
        phase = PHASES[min(queue.phases, len(PHASES) - 1)] if queue.phases is not None else ""
        if queue.overdue:
            return Death(nodeid, phase, f"reported nothing for {LIMIT_S:.0f} s and was stopped")
        if queue.fresh or phase == PHASES[-1]:
            return Death(nodeid, phase, f"died{describe_exit(node)}")
        self._waiting.append([nodeid])
        return None

    def _reporter(self, queue: _Queue) -> Any:
        """Return the worker that the reports of the running test name as their source."""
        return self._reporters[queue.tests[0]]

    def _kill_overdue(self) -> None:
        """Kill the processes that reported nothing for `LIMIT_S`."""
        for node, queue in self._queues.items():
            if not queue.overdue and time.monotonic() - queue.last_event > LIMIT_S:
                queue.overdue = True
                _kill(node)

    @contextmanager
    def _kill_remaining(self) -> Iterator[None]:
        """Kill the remaining processes at the end, also after an error."""
        try:
            yield
        finally:
            for node in self._queues:
                _kill(node)


def describe_exit(node: Any) -> str:
    """Return how a worker's process ended, such as `` with exit code 3``; "" if unknown."""
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
