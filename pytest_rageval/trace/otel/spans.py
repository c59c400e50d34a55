"""Read spans: OTLP/JSON, the ``to_json`` of OpenTelemetry's SDK, and the export of the OpenAI Agents SDK."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

__all__ = ["AGENTS_TYPE", "Span", "attributes_of", "error_of", "id_of", "parse_span", "spans_in", "written_span"]

AGENTS_TYPE = "agents.type"
"""The attribute with the type of a span of the OpenAI Agents SDK; its other attributes are the span's own data."""

_ERRORS = (2, "2", "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR")
_BASE64 = (12, 24)
"""Characters of 8 and of 16 bytes in base64."""

_DEEPEST = 20
"""Levels of lists and groups around a span; an export has 6."""

_GROUPS = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "spans")
_SCALARS = ("stringValue", "boolValue", "doubleValue", "string_value", "bool_value", "double_value")


@dataclass(frozen=True, slots=True)
class Span:
    """A span in one form for all libraries.

    Attributes:
        name, trace_id, span_id: as written, ids without "0x".
        parent_id: the id of the span around it, or "".
        start, end: seconds since the epoch; ``end`` is None if the span has not ended.
        attributes: its attributes; arrays are lists.
        error: "CLASS: message" of a failed span; None if it succeeded.
    """

    name: str
    trace_id: str
    span_id: str
    parent_id: str = ""
    start: float = 0.0
    end: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None

    @property
    def seconds(self) -> float | None:
        """How long it ran; None if it has not ended."""
        return None if self.end is None else max(self.end - self.start, 0.0)


def spans_in(value: object) -> list[Span]:
    """Return all spans in a JSON value: a span, a list of spans, or an object of OTLP or of the Agents SDK with spans.

    A value without spans gives an empty list.
    """
    return [span for written in _written(value) if (span := parse_span(written)) is not None]


def parse_span(written: Mapping[str, Any]) -> Span | None:
    """Return a span that was written as JSON; None for any other object."""
    if written.get("object") == "trace.span" or isinstance(written.get("span_data"), Mapping):
        return _of_agents(written)
    if isinstance(written.get("context"), Mapping):
        return _of_sdk(written)
    if _pick(written, "spanId", "span_id"):
        return _of_otlp(written)
    return None


def written_span(span: Span) -> dict[str, Any]:
    """Return a span as JSON that `parse_span` reads."""
    written: dict[str, Any] = {
        "name": span.name,
        "context": {"trace_id": span.trace_id, "span_id": span.span_id},
        "parent_id": span.parent_id or None,
        "start_time": _iso(span.start),
        "end_time": None if span.end is None else _iso(span.end),
        "attributes": dict(span.attributes),
    }
    if span.error is not None:
        kind = span.error.partition(":")[0]
        written["attributes"] = {**span.attributes, "error.type": kind}
        written["status"] = {"status_code": "ERROR", "description": span.error if kind != span.error else ""}
    return written


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()


def _written(value: object, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a value that may be spans."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _written(item, depth + 1)
    elif isinstance(value, Mapping):
        groups = [value[key] for key in _GROUPS if isinstance(value.get(key), list)]
        for group in groups:
            yield from _written(group, depth + 1)
        if not groups:
            yield value


def _of_agents(written: Mapping[str, Any]) -> Span | None:
    data, error = written.get("span_data"), written.get("error")
    if not isinstance(data, Mapping):
        return None
    message = error.get("message") if isinstance(error, Mapping) else error
    return Span(
        str(data.get("name") or data.get("type") or ""),
        id_of(written.get("trace_id")),
        id_of(written.get("id")),
        id_of(written.get("parent_id")),
        _seconds(written.get("started_at")) or 0.0,
        _seconds(written.get("ended_at")),
        {**data, AGENTS_TYPE: data.get("type")},
        None if message is None else _agents_error(str(message), error),
    )


def _agents_error(message: str, error: object) -> str:
    """Return the message of an error with what the exception itself said."""
    data = error.get("data") if isinstance(error, Mapping) else None
    said = data.get("error") if isinstance(data, Mapping) else None
    return f"{message}: {said}" if said else message


def _of_sdk(written: Mapping[str, Any]) -> Span:
    context = written["context"]
    attributes = written.get("attributes")
    attributes = dict(attributes) if isinstance(attributes, Mapping) else {}
    return Span(
        str(written.get("name") or ""),
        id_of(context.get("trace_id")),
        id_of(context.get("span_id")),
        id_of(written.get("parent_id")),
        _seconds(written.get("start_time")) or 0.0,
        _seconds(written.get("end_time")),
        attributes,
        error_of(written.get("status"), attributes, written.get("events")),
    )


def _of_otlp(written: Mapping[str, Any]) -> Span:
    attributes = attributes_of(written.get("attributes"))
    return Span(
        str(written.get("name") or ""),
        id_of(_pick(written, "traceId", "trace_id")),
        id_of(_pick(written, "spanId", "span_id")),
        id_of(_pick(written, "parentSpanId", "parent_span_id")),
        _seconds(_pick(written, "startTimeUnixNano", "start_time_unix_nano", "start_time")) or 0.0,
        _seconds(_pick(written, "endTimeUnixNano", "end_time_unix_nano", "end_time")),
        attributes,
        error_of(written.get("status"), attributes, written.get("events")),
    )


def error_of(status: object, attributes: Mapping[str, Any], events: object) -> str | None:
    """Return "CLASS: message" if a span failed; None if it did not."""
    if not isinstance(status, Mapping) or _pick(status, "status_code", "code", "statusCode") not in _ERRORS:
        return None
    raised: Mapping[str, Any] = {}
    for event in events if isinstance(events, Sequence) and not isinstance(events, str) else ():
        if isinstance(event, Mapping) and event.get("name") == "exception":
            raised = attributes_of(event.get("attributes"))
    kind = attributes.get("error.type") or raised.get("exception.type") or "Error"
    message = raised.get("exception.message") or _pick(status, "description", "message") or ""
    kind = str(kind).rpartition(".")[2]
    return str(message) if str(message).startswith(f"{kind}:") else f"{kind}: {message}" if message else kind


def attributes_of(written: object) -> dict[str, Any]:
    """Return attributes, which OTLP writes as a list of keys and typed values."""
    if isinstance(written, Mapping):
        return {key: _value(value) if _is_typed(value) else value for key, value in written.items()}
    pairs = written if isinstance(written, list) else []
    return {
        str(pair["key"]): _value(pair.get("value")) for pair in pairs if isinstance(pair, Mapping) and "key" in pair
    }


def _is_typed(value: object) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in (*_SCALARS, "intValue", "arrayValue")


def _value(value: object) -> Any:
    """Return the plain value of a typed one."""
    if not isinstance(value, Mapping):
        return value
    for key, held in value.items():
        if key in _SCALARS:
            return held
        if key in ("intValue", "int_value"):
            return _whole(held)
        if key in ("arrayValue", "array_value", "kvlistValue", "kvlist_value") and isinstance(held, Mapping):
            items = held.get("values", [])
            return attributes_of(items) if key.startswith("kv") else [_value(item) for item in items]
    return None


def _whole(value: Any) -> Any:
    """Return an integer, which OTLP/JSON writes as a string."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return value


def _seconds(value: Any) -> float | None:
    """Return seconds since the epoch of an ISO time or of nanoseconds."""
    if value in (None, ""):
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value / 1e9
    text = str(value)
    if text.isdecimal():
        return int(text) / 1e9
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()


def id_of(value: object) -> str:
    """Return an id in hexadecimal digits; protobuf's own JSON writes the bytes in base64."""
    text = "" if value is None else str(value)
    if len(text) in _BASE64 and text.endswith("="):
        try:
            return b64decode(text, validate=True).hex()
        except ValueError:
            return text
    return text.removeprefix("0x").lower()


def _pick(written: Mapping[str, Any], *names: str) -> Any:
    return next((written[name] for name in names if written.get(name) is not None), None)
