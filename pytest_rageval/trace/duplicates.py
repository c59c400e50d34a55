"""Merge two records of one call, such as a decorated tool that OpenTelemetry also reports."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

from pytest_rageval.model.plain import plain_json
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.trace.collector import Collector, Event
from pytest_rageval.trace.steps import COMPLETION, RETRIEVE, TOOL

__all__ = ["without_duplicates"]

LATE_S = 0.05
"""Maximum seconds by which a stream may outlast the model call that reads it."""


def without_duplicates(collector: Collector) -> Collector:
    """Return the events without duplicate calls.

    Two events are one call if they come from different sources, overlap in time, and have the same tool and arguments,
    the same query, or the same numbers of tokens. A model call inside another one is also the same call if the tokens
    of either are unknown. The earlier event is kept, and gets the values that only the other one has.
    """
    events = list(collector.events)
    if len({event.source for event in events}) < 2:
        return Collector(events)
    calls: dict[tuple[str, str], dict[str, deque[Event]]] = {}
    completions: list[Event] = []
    merges: set[tuple[int, str]] = set()
    originals: dict[int, Event] = {}
    for event in sorted(events, key=lambda each: each.start):
        key = _key(event)
        earlier = None if key is None else _earlier(calls.get(key, {}), event)
        if earlier is None and event.kind == COMPLETION:
            completions = [each for each in completions if not _is_over(each, event)]
            candidates = (each for each in completions if (id(each), event.source) not in merges)
            earlier = next((each for each in candidates if _is_inside(event, each)), None)
        if earlier is None:
            if key is not None:
                calls.setdefault(key, {}).setdefault(event.source, deque()).append(event)
            if event.kind == COMPLETION:
                completions.append(event)
        else:
            originals[id(event)] = earlier
            merges.add((id(earlier), event.source))
            earlier.detail = {**event.detail, **earlier.detail}
    rest = [event for event in events if id(event) not in originals]
    for event in rest:
        parent = originals.get(id(event.parent), event.parent)
        event.parent = None if parent is event else parent
    return Collector(rest)


def _earlier(calls: dict[str, deque[Event]], event: Event) -> Event | None:
    """Return the first call of another source that overlaps an event; forget calls that ended before it.

    Args:
        calls: source -> its calls that began no later than the event, in order of their start.
        event: the event.
    """
    overlapping = []
    for source, queue in calls.items():
        while queue and _is_over(queue[0], event):
            queue.popleft()
        if queue and source != event.source:
            overlapping.append(queue[0])
    is_valid = event.end is None or event.start <= event.end  # a clock can be set back
    return min(overlapping, key=lambda each: each.start) if overlapping and is_valid else None


def _is_over(earlier: Event, event: Event) -> bool:
    """Return whether an earlier event ended before another began."""
    return earlier.end is not None and earlier.end < event.start


def _is_inside(event: Event, outer: Event) -> bool:
    """Return whether an outer model call of another source is the same call; the tokens of one must be unknown."""
    if event.source == outer.source or (_key(event) is not None and _key(outer) is not None):
        return False
    model, outer_model = (str(each.detail.get("model") or "") for each in (event, outer))
    if not (model.startswith(outer_model) or outer_model.startswith(model)):
        return False
    if outer.end is None:
        return True
    return event.end is not None and event.start <= outer.end and event.end <= outer.end + LATE_S


def _key(event: Event) -> tuple[str, str] | None:
    """Return the key that two records of one call share; None if the event lacks the values."""
    detail = event.detail
    if event.kind == TOOL:
        return event.kind, f"{detail.get('name')} {_canonical(detail.get('arguments'))}"
    if event.kind == RETRIEVE and detail.get("query"):
        return event.kind, str(detail["query"])
    tokens = detail.get("prompt_tokens"), detail.get("completion_tokens")
    return (event.kind, str(tokens)) if event.kind == COMPLETION and None not in tokens else None


def _canonical(arguments: Any) -> str:
    """Return arguments as JSON with sorted keys; some sources record them as text."""
    if isinstance(arguments, str):
        text = arguments
        try:
            arguments = parse_json(text)
        except ValueError:
            return text
    return json.dumps(plain_json(arguments or {}), sort_keys=True)
