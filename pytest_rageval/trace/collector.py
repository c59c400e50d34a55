"""Collect the steps of one answer while its system runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.model.answer import Step

__all__ = ["Collector", "Event", "collecting", "current_collector"]

_CURRENT: ContextVar[Collector | None] = ContextVar("rageval_collector", default=None)


@dataclass(eq=False, slots=True)
class Event:
    """A step with its time and the step around it.

    Attributes:
        kind, detail: those of the `Step`.
        start, end: seconds since the epoch; ``end`` is None while it runs.
        parent: the step that it happened in.
        source: who recorded it, such as "tracing"; two sources may record the same call.
    """

    kind: str
    detail: dict[str, Any] = field(default_factory=dict)
    start: float = field(default_factory=time.time)
    end: float | None = None
    parent: Event | None = None
    source: str = ""


@dataclass(eq=False, slots=True)
class Collector:
    """The events of one answer. Threads and tasks with the case's context add to it."""

    events: list[Event] = field(default_factory=list)

    def add(self, event: Event) -> Event:
        """Add an event and return it."""
        self.events.append(event)
        return event

    def steps(self) -> tuple[Step, ...]:
        """Return the steps in the order in which they began; ``parent`` becomes an index."""
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


@contextmanager
def collecting() -> Iterator[Collector]:
    """Collect the steps of one answer inside the block."""
    collector = Collector()
    token = _CURRENT.set(collector)
    try:
        yield collector
    finally:
        _CURRENT.reset(token)
