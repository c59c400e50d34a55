"""Parse spans from OTLP/JSON, ``to_json`` of OpenTelemetry, and the OpenAI Agents SDK."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

__all__ = ["AGENTS_TYPE", "Span", "attributes_of", "error_of", "id_of", "parse_span", "span_json", "spans_in"]

AGENTS_TYPE = "agents.type"
"""The attribute with the type of an OpenAI Agents SDK span; the other attributes are the span's data."""

_ERRORS = (2, "2", "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR")
_BASE64 = (12, 24)
"""Lengths of an id of 8 or 16 bytes in base64."""

_MAX_DEPTH = 20
"""Maximum nesting of lists and groups around a span; a real export has 6 levels."""

_GROUPS = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "spans")
_SCALARS = ("stringValue", "boolValue", "doubleValue", "string_value", "bool_value", "double_value")


@dataclass(frozen=True, slots=True)
class Span:
    """A span in one form for all libraries.

    Attributes:
        name, trace_id, span_id: from the record; ids without "0x".
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
    """Return all spans in a JSON value; [] if it has none.

    The value is a span, a list of spans, or an object of OTLP or of the Agents SDK that contains spans.
    """
    return [span for record in _records(value) if (span := parse_span(record)) is not None]


def parse_span(record: Mapping[str, Any]) -> Span | None:
    """Parse the JSON object of a span; return None for any other object."""
    if record.get("object") == "trace.span" or isinstance(record.get("span_data"), Mapping):
        return _of_agents(record)
    if isinstance(record.get("context"), Mapping):
        return _of_sdk(record)
    if _pick(record, "spanId", "span_id"):
        return _of_otlp(record)
    return None


def span_json(span: Span) -> dict[str, Any]:
    """Return a span as JSON that `parse_span` reads."""
    record: dict[str, Any] = {
        "name": span.name,
        "context": {"trace_id": span.trace_id, "span_id": span.span_id},
        "parent_id": span.parent_id or None,
        "start_time": _iso(span.start),
        "end_time": None if span.end is None else _iso(span.end),
        "attributes": dict(span.attributes),
    }
    if span.error is not None:
        kind = span.error.partition(":")[0]
        record["attributes"] = {**span.attributes, "error.type": kind}
        record["status"] = {"status_code": "ERROR", "description": span.error if kind != span.error else ""}
    return record


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()


def _records(value: object, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a JSON value that may be spans."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _records(item, depth + 1)
    elif isinstance(value, Mapping):
        groups = [value[key] for key in _GROUPS if isinstance(value.get(key), list)]
        for group in groups:
            yield from _records(group, depth + 1)
        if not groups:
            yield value


def _of_agents(record: Mapping[str, Any]) -> Span | None:
    data, error = record.get("span_data"), record.get("error")
    if not isinstance(data, Mapping):
        return None
    message = error.get("message") if isinstance(error, Mapping) else error
    return Span(
        str(data.get("name") or data.get("type") or ""),
        id_of(record.get("trace_id")),
        id_of(record.get("id")),
        id_of(record.get("parent_id")),
        _seconds(record.get("started_at")) or 0.0,
        _seconds(record.get("ended_at")),
        {**data, AGENTS_TYPE: data.get("type")},
        None if message is None else _agents_error(str(message), error),
    )


def _agents_error(message: str, error: object) -> str:
    """Return the message of an error, with the message of the exception if it is recorded."""
    data = error.get("data") if isinstance(error, Mapping) else None
    cause = data.get("error") if isinstance(data, Mapping) else None
    return f"{message}: {cause}" if cause else message


def _of_sdk(record: Mapping[str, Any]) -> Span:
    context = record["context"]
    attributes = record.get("attributes")
    attributes = dict(attributes) if isinstance(attributes, Mapping) else {}
    return Span(
        str(record.get("name") or ""),
        id_of(context.get("trace_id")),
        id_of(context.get("span_id")),
        id_of(record.get("parent_id")),
        _seconds(record.get("start_time")) or 0.0,
        _seconds(record.get("end_time")),
        attributes,
        error_of(record.get("status"), attributes, record.get("events")),
    )


def _of_otlp(record: Mapping[str, Any]) -> Span:
    attributes = attributes_of(record.get("attributes"))
    return Span(
        str(record.get("name") or ""),
        id_of(_pick(record, "traceId", "trace_id")),
        id_of(_pick(record, "spanId", "span_id")),
        id_of(_pick(record, "parentSpanId", "parent_span_id")),
        _seconds(_pick(record, "startTimeUnixNano", "start_time_unix_nano", "start_time")) or 0.0,
        _seconds(_pick(record, "endTimeUnixNano", "end_time_unix_nano", "end_time")),
        attributes,
        error_of(record.get("status"), attributes, record.get("events")),
    )


def error_of(status: object, attributes: Mapping[str, Any], events: object) -> str | None:
    """Return "CLASS: message" of a failed span; None if it succeeded."""
    if not isinstance(status, Mapping) or _pick(status, "status_code", "code", "statusCode") not in _ERRORS:
        return None
    exception: Mapping[str, Any] = {}
    for event in events if isinstance(events, Sequence) and not isinstance(events, str) else ():
        if isinstance(event, Mapping) and event.get("name") == "exception":
            exception = attributes_of(event.get("attributes"))
    kind = attributes.get("error.type") or exception.get("exception.type") or "Error"
    message = exception.get("exception.message") or _pick(status, "description", "message") or ""
    kind = str(kind).rpartition(".")[2]
    return str(message) if str(message).startswith(f"{kind}:") else f"{kind}: {message}" if message else kind


def attributes_of(record: object) -> dict[str, Any]:
    """Return attributes as a dict; OTLP writes them as a list of keys and typed values."""
    if isinstance(record, Mapping):
        return {key: _value(value) if _is_typed(value) else value for key, value in record.items()}
    pairs = record if isinstance(record, list) else []
    return {
        str(pair["key"]): _value(pair.get("value")) for pair in pairs if isinstance(pair, Mapping) and "key" in pair
    }


def _is_typed(value: object) -> bool:
    return isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in (*_SCALARS, "intValue", "arrayValue")


def _value(value: object) -> Any:
    """Return the plain value of a typed value of OTLP, such as ``{"intValue": "3"}``."""
    if not isinstance(value, Mapping):
        return value
    for key, content in value.items():
        if key in _SCALARS:
            return content
        if key in ("intValue", "int_value"):
            return _integer(content)
        if key in ("arrayValue", "array_value", "kvlistValue", "kvlist_value") and isinstance(content, Mapping):
            items = content.get("values", [])
            return attributes_of(items) if key.startswith("kv") else [_value(item) for item in items]
    return None


def _integer(value: Any) -> Any:
    """Parse an integer, which OTLP/JSON writes as a string."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return value


def _seconds(value: Any) -> float | None:
    """Convert an ISO time or nanoseconds to seconds since the epoch; None if neither."""
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
    """Return an id in hexadecimal digits; protobuf's JSON writes it in base64."""
    text = "" if value is None else str(value)
    if len(text) in _BASE64 and text.endswith("="):
        try:
            return b64decode(text, validate=True).hex()
        except ValueError:
            return text
    return text.removeprefix("0x").lower()


def _pick(record: Mapping[str, Any], *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)
