"""Find verdicts on traces: ``gen_ai.evaluation.result`` in log records or events of spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_rageval.trace.otel.spans import attributes_of, id_of

__all__ = ["EVENT", "failed_evaluations"]

EVENT = "gen_ai.evaluation.result"
LABEL = "gen_ai.evaluation.score.label"
_GROUPS = ("resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "logRecords", "log_records",
           "resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans")  # fmt: skip


def failed_evaluations(value: object) -> set[str]:
    """Return the ids of the traces in a JSON value that have an evaluation with the label "fail"."""
    return {trace for trace, label in _labels(value) if label == "fail"}


def _labels(value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from _labels(item)
    elif isinstance(value, Mapping):
        for key in _GROUPS:
            yield from _labels(value.get(key))
        context = value.get("context")
        trace = id_of(
            value.get("traceId")
            or value.get("trace_id")
            or (context.get("trace_id") if isinstance(context, Mapping) else None)
        )
        if EVENT in (value.get("eventName"), value.get("event_name")):
            yield trace, attributes_of(value.get("attributes")).get(LABEL)
        events = value.get("events")
        for event in events if isinstance(events, list) else ():
            if isinstance(event, Mapping) and event.get("name") == EVENT:
                yield trace, attributes_of(event.get("attributes")).get(LABEL)
