"""Collect the steps of one answer while its system runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.model.answer import Step

__all__ = [
    "CURRENT_STEP", "WATCHER", "Collector", "Event", "collecting", "current_collector", "drop_step", "dropped_steps",
]  # fmt: skip

_CURRENT: ContextVar[Collector | None] = ContextVar("rageval_collector", default=None)

CURRENT_STEP: ContextVar[Event | None] = ContextVar("rageval_step", default=None)
"""The step that contains the running code."""

WATCHER: ContextVar[Callable[[Event], object] | None] = ContextVar("rageval_watcher", default=None)
"""Function that is called with each step when it ends; None in a test session."""

_LOCK = threading.Lock()
_open_collectors = 0
_dropped_steps = 0


@dataclass(eq=False, slots=True)
class Event:
    """A step with its time and the step around it.

    Attributes:
        kind, detail: as in `Step`.
        start, end: seconds since the epoch; ``end`` is None while it runs.
        parent: the step that contains it.
        source: the recorder, such as "tracing"; two sources may record the same call.
    """

    kind: str
    detail: dict[str, Any] = field(default_factory=dict)
    start: float = field(default_factory=time.time)
    end: float | None = None
    parent: Event | None = None
    source: str = ""


@dataclass(eq=False, slots=True)
class Collector:
    """The events of one answer. Threads and tasks with the context of the case add events.

    Attributes:
        events: the steps so far, including running ones.
        watcher: function that is called with each step when it ends, or None.
    """

    events: list[Event] = field(default_factory=list)
    watcher: Callable[[Event], object] | None = None

    def add(self, event: Event) -> Event:
        """Add an event and return it; without a parent, it belongs to the step that runs in this context."""
        if event.parent is None:
            event.parent = CURRENT_STEP.get()
        self.events.append(event)
        return event

    def steps(self) -> tuple[Step, ...]:
        """Return the steps sorted by their start; ``parent`` becomes an index."""
        events = sorted(self.events, key=lambda event: event.start)
        index = {id(event): place for place, event in enumerate(events)}
        return tuple(
            Step(
                event.kind,
                event.detail if id(event.parent) not in index else {**event.detail, "parent": index[id(event.parent)]},
            )
            for event in events
        )


def current_collector() -> Collector | None:
    """Return the collector of the case that runs in this context; None outside a case."""
    return _CURRENT.get()


class collecting:  # noqa: N801 - used like a `contextmanager` function, but faster, because every case enters it
    """Collect the steps of one answer inside the block."""

    __slots__ = ("_token",)

    def __enter__(self) -> Collector:
        global _open_collectors
        collector = Collector(watcher=WATCHER.get())
        self._token = _CURRENT.set(collector)
        with _LOCK:
            _open_collectors += 1
        return collector

    def __exit__(self, *error: object) -> None:
        global _open_collectors
        with _LOCK:
            _open_collectors -= 1
        _CURRENT.reset(self._token)


def drop_step() -> None:
    """Count a step without a collector, if it comes from a thread without the context of a running case."""
    global _dropped_steps
    if _open_collectors and threading.current_thread() is not threading.main_thread():
        with _LOCK:
            _dropped_steps += 1


def dropped_steps() -> int:
    """Return and reset the number of steps from threads without the context of a case."""
    global _dropped_steps
    with _LOCK:
        dropped, _dropped_steps = _dropped_steps, 0
    return dropped
