"""The cases whose systems run in this process now, for calls that come from elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_rageval.llm.client.usage_meter import Scope, current
from pytest_rageval.trace.collector import Collector, current_collector

__all__ = ["RunningCase", "running_case", "running_cases"]

RunningCase = tuple[Scope, Collector | None]

_lock = threading.Lock()
_running: dict[object, RunningCase] = {}


@contextmanager
def running_case() -> Iterator[None]:
    """Count the case of the current context as running inside the block."""
    key = object()
    with _lock:
        _running[key] = current(), current_collector()
    try:
        yield
    finally:
        with _lock:
            del _running[key]


def running_cases() -> list[RunningCase]:
    """Return the running cases."""
    with _lock:
        return list(_running.values())
