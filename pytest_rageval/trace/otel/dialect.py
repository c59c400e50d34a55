"""Define a dialect of spans: how to recognise it, and how to read a span as a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import tool_result

__all__ = ["CALL_ID", "Detail", "Dialect", "Source", "SpanStep", "add_result", "detail_of"]

Detail = dict[str, Any]
Source = str
"""The library that wrote spans: "otel" or "agents"."""

SpanStep = tuple[str, Detail]
"""The kind and the detail of a step."""

CALL_ID = "call_id"
"""Key of a tool step for the id of the model's tool call."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The format of spans of one family of instrumentations.

    Attributes:
        name: its name.
        speaks: returns whether a span has the mark of the dialect; one such span decides for its whole trace.
        read: returns the step of a span; None for spans that are not a step, such as chains and agents.
    """

    name: str
    speaks: Callable[[Span], bool]
    read: Callable[[Span], SpanStep | None]


def detail_of(span: Span, pairs: Iterable[tuple[str, Any]]) -> Detail:
    """Return the detail of a step: the values that are not None, with the span's time and error."""
    detail = {key: value for key, value in pairs if value is not None}
    if span.seconds is not None:
        detail["seconds"] = round(span.seconds, 6)
    if span.error is not None:
        detail["error"] = span.error
    return detail


def add_result(detail: Detail, written: Any) -> None:
    """Add the result of a tool to its step, if it was recorded."""
    if written is None:
        return
    result = tool_result(written)
    detail["result"] = result.value
    if result.passages:
        detail["passages"] = result.passages
    if result.call_id:
        detail.setdefault(CALL_ID, result.call_id)
    if result.error is not None:
        detail.setdefault("error", result.error)
