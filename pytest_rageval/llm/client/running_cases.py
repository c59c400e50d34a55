"""The cases whose systems run in this process now; for requests that do not name their case."""

from __future__ import annotations

import threading

from pytest_rageval.errors import RagEvalError
from pytest_rageval.llm.client.usage_meter import Scope, current
from pytest_rageval.trace.collector import Collector, current_collector

__all__ = ["RunningCase", "is_running", "note_refused_request", "running_case", "running_cases"]

RunningCase = tuple[Scope, Collector | None]

_lock = threading.Lock()
_running: dict[object, RunningCase] = {}


class running_case:  # noqa: N801 - a context manager; faster than `contextmanager`, because every case enters one
    """Count the case of the current context as running inside the block."""

    __slots__ = ()

    def __enter__(self) -> None:
        with _lock:
            _running[self] = current(), current_collector()

    def __exit__(self, *error: object) -> None:
        with _lock:
            del _running[self]


def running_cases() -> list[RunningCase]:
    """Return the running cases."""
    with _lock:
        return list(_running.values())


def is_running(scope: Scope) -> bool:
    """Return whether the system of a scope's case runs now."""
    return any(running.meter is scope.meter for running, _ in running_cases())


def note_refused_request(error: RagEvalError) -> None:
    """Note a refused request in each running case, because a thread without a case may have sent it for any of them.

    Do nothing in the main thread: without a case it runs a plain test, whose requests belong to no case.
    """
    if threading.current_thread() is not threading.main_thread():
        for scope, _ in running_cases():
            scope.meter.refuse(error)
