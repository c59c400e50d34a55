"""What a dialect of spans is: how to know it, and how to read a span as a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import tool_result

__all__ = ["CALL_ID", "Detail", "Dialect", "Read", "Source", "add_result", "detail_of"]

Detail = dict[str, Any]
Source = str
"""Who wrote spans: "otel" or "agents"."""

Read = tuple[str, Detail]
"""The kind and the detail of a step."""

CALL_ID = "call_id"
"""The key of a tool step with the id of the model's tool call."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one family of instrumentations writes its spans.

    Attributes:
        name: its name.
        speaks: whether a span has the mark of the dialect; one such span decides for its whole trace.
        read: the step that a span is; None for spans that are no step, such as chains and agents.
    """

    name: str
    speaks: Callable[[Span], bool]
    read: Callable[[Span], Read | None]


def detail_of(span: Span, pairs: Iterable[tuple[str, Any]]) -> Detail:
    """Return the known values of a step, with the span's time and error."""
    detail = {key: value for key, value in pairs if value is not None}
    if span.seconds is not None:
        detail["seconds"] = round(span.seconds, 6)
    if span.error is not None:
        detail["error"] = span.error
    return detail


def add_result(detail: Detail, written: Any) -> None:
    """Add what a tool returned to its step. A result that was not recorded adds nothing."""
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
