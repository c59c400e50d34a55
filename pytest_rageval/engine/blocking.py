"""Measure how long a coroutine blocks its event loop: the time in its steps without CPU use.

The time in which a service of this package starts does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

from pytest_rageval.threads import STARTUP

__all__ = ["BlockingMeter", "TimedAwaitable"]

T = TypeVar("T")

MIN_SHARE = 0.5
"""Report a system if it blocks the loop for at least this share of the time with a call in flight."""

MIN_S, MIN_CALL_S = 0.5, 0.02
"""Minimum blocked seconds for a report, in total and per call: waiting for the interpreter's lock counts too."""


class BlockingMeter:
    """Measures one async system: the number of calls, the time with any call in flight, and the blocked time."""

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = self.blocked_s = 0.0
        self._in_flight = 0
        self._since = 0.0

    def begin(self) -> None:
        """Count a call as in flight."""
        if not self._in_flight:
            self._since = time.perf_counter()
        self._in_flight += 1

    def end(self) -> None:
        """Count a call as done."""
        self.calls += 1
        self._in_flight -= 1
        if not self._in_flight:
            self.seconds += time.perf_counter() - self._since

    @property
    def is_blocking(self) -> bool:
        """Whether the system blocks the loop for most of its time."""
        enough = self.blocked_s >= max(MIN_S, MIN_CALL_S * self.calls)
        return enough and self.blocked_s >= MIN_SHARE * self.seconds


class TimedAwaitable(Generic[T]):
    """Awaits a coroutine, and adds its times to a `BlockingMeter`."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], blocking: BlockingMeter) -> None:
        self._coroutine = coroutine
        self._blocking = blocking

    def __await__(self) -> Generator[Any, Any, T]:
        """Run the coroutine step by step, and pass on values and exceptions that are sent in."""
        step: Callable[[Any], Any] = self._coroutine.send
        value: Any = None
        self._blocking.begin()
        try:
            while True:
                wall, cpu, startup = time.perf_counter(), time.thread_time(), STARTUP.seconds
                try:
                    waits_for = step(value)
                except StopIteration as done:
                    result: T = done.value
                    return result
                finally:
                    excused = time.thread_time() - cpu + STARTUP.seconds - startup
                    self._blocking.blocked_s += time.perf_counter() - wall - excused
                try:
                    value, step = (yield waits_for), self._coroutine.send
                except BaseException as error:  # for example, the task is cancelled
                    value, step = error, self._coroutine.throw
        finally:
            self._blocking.end()
