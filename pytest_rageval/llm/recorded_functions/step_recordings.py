"""Record the steps that a function adds to the trace of its case, and replay them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pytest_rageval.model.plain import plain_json, plain_text
from pytest_rageval.trace.collector import Collector, Event, collecting, current_collector

__all__ = ["collect_separately", "plain_steps", "replay_steps"]


@contextmanager
def collect_separately() -> Iterator[Collector]:
    """Collect the steps of the block in a separate collector, and then add them to the collector of the case."""
    outer = current_collector()
    with collecting() as inner:
        try:
            yield inner
        finally:
            if outer is not None:
                outer.events.extend(inner.events)


def plain_steps(collector: Collector) -> list[dict[str, Any]]:
    """Return the steps as JSON values, without their seconds, because the time of a replay is not a measurement."""
    return [
        {
            "kind": plain_text(step.kind),
            "detail": plain_json({key: value for key, value in step.detail.items() if key != "seconds"}),
        }
        for step in collector.steps()
    ]


def replay_steps(steps: Sequence[dict[str, Any]]) -> None:
    """Add recorded steps to the collector of the case."""
    collector = current_collector()
    if collector is None:
        return
    events: list[Event] = []
    for step in steps:
        detail = dict(step["detail"])
        parent = detail.pop("parent", None)
        is_inside = type(parent) is int and 0 <= parent < len(events)
        events.append(collector.add(Event(step["kind"], detail, parent=events[parent] if is_inside else None)))
