"""Join what two sources recorded about one call, such as a decorated tool that OpenTelemetry also reports."""

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
"""Seconds that a stream may end after the model call that read it."""


def without_duplicates(collector: Collector) -> Collector:
    """Return the events with each call once.

    Two events are one call if they come from different sources, overlap in time, and have the same tool and arguments,
    the same query, or the same numbers of tokens. So are a model call and one around it if either does not know its
    tokens. The one that began first stays and gets the values that only the other has.
    """
    events = list(collector.events)
    if len({event.source for event in events}) < 2:
        return Collector(events)
    calls: dict[tuple[str, str], dict[str, deque[Event]]] = {}
    completions: list[Event] = []
    joined: set[tuple[int, str]] = set()
    same: dict[int, Event] = {}
    for event in sorted(events, key=lambda each: each.start):
        key = _key(event)
        earlier = None if key is None else _earlier(calls.get(key, {}), event)
        if earlier is None and event.kind == COMPLETION:
            completions = [each for each in completions if not _is_over(each, event)]
            free = (each for each in completions if (id(each), event.source) not in joined)
            earlier = next((each for each in free if _is_inside(event, each)), None)
        if earlier is None:
            if key is not None:
                calls.setdefault(key, {}).setdefault(event.source, deque()).append(event)
            if event.kind == COMPLETION:
                completions.append(event)
        else:
            same[id(event)] = earlier
            joined.add((id(earlier), event.source))
            earlier.detail = {**event.detail, **earlier.detail}
    rest = [event for event in events if id(event) not in same]
    for event in rest:
        parent = same.get(id(event.parent), event.parent)
        event.parent = None if parent is event else parent
    return Collector(rest)


def _earlier(calls: dict[str, deque[Event]], event: Event) -> Event | None:
    """Return the first call of another source that overlaps an event; forget calls that ended before it.

    Args:
        calls: source -> its calls that began no later than the event, in the order in which they began.
        event: the event.
    """
    found = []
    for source, begun in calls.items():
        while begun and _is_over(begun[0], event):
            begun.popleft()
        if begun and source != event.source:
            found.append(begun[0])
    is_valid = event.end is None or event.start <= event.end  # a clock can be set back
    return min(found, key=lambda each: each.start) if found and is_valid else None


def _is_over(earlier: Event, event: Event) -> bool:
    """Return whether an earlier event ended before another began."""
    return earlier.end is not None and earlier.end < event.start


def _is_inside(event: Event, around: Event) -> bool:
    """Return whether a model call is the one that another source recorded around it, with unknown tokens."""
    if event.source == around.source or (_key(event) is not None and _key(around) is not None):
        return False
    inner, outer = (str(each.detail.get("model") or "") for each in (event, around))
    if not (inner.startswith(outer) or outer.startswith(inner)):
        return False
    if around.end is None:
        return True
    return event.end is not None and event.start <= around.end and event.end <= around.end + LATE_S


def _key(event: Event) -> tuple[str, str] | None:
    """Return what two records of one call share; None if the step does not say enough."""
    detail = event.detail
    if event.kind == TOOL:
        return event.kind, f"{detail.get('name')} {_canonical(detail.get('arguments'))}"
    if event.kind == RETRIEVE and detail.get("query"):
        return event.kind, str(detail["query"])
    tokens = detail.get("prompt_tokens"), detail.get("completion_tokens")
    return (event.kind, str(tokens)) if event.kind == COMPLETION and None not in tokens else None


def _canonical(arguments: Any) -> str:
    """Return arguments as JSON with sorted keys; one source may have them as text."""
    if isinstance(arguments, str):
        text = arguments
        try:
            arguments = parse_json(text)
        except ValueError:
            return text
    return json.dumps(plain_json(arguments or {}), sort_keys=True)
