"""Collect spans of the OpenAI Agents SDK with an additional trace processor."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pytest_rageval.trace.otel.case_spans import CaseSpans
from pytest_rageval.trace.otel.notes import LATE, Notes
from pytest_rageval.trace.otel.spans import parse_span

__all__ = ["AgentsSpans"]


class AgentsSpans:
    """A trace processor for the Agents SDK. The SDK requires no base class.

    A trace belongs to the case that runs in the context where the trace begins.

    Args:
        current: has the spans of the case that runs in a context.
        notes: counts the spans that end too late.
    """

    def __init__(self, current: ContextVar[CaseSpans | None], notes: Notes) -> None:
        self._current = current
        self._notes = notes
        self._traces: dict[str, CaseSpans] = {}
        self._is_open = True
        sys.modules["agents"].add_trace_processor(self)

    @contextmanager
    def case(self, spans: CaseSpans, names: dict[str, str]) -> Iterator[None]:
        """Collect the traces that begin inside the block; they have no OpenTelemetry context.

        ``names`` is unused: they are attributes of a root span, and these traces get none.
        """
        try:
            yield None
        finally:
            for name in [name for name, case in self._traces.items() if case is spans]:
                self._traces[name] = _CLOSED

    def on_trace_start(self, trace: Any) -> None:
        """Store the case of a trace."""
        case = self._current.get()
        if case is not None and self._is_open:
            self._traces[trace.trace_id] = case

    def on_trace_end(self, trace: Any) -> None:
        """Remove the case of a trace, unless its answer is complete."""
        if self._traces.get(trace.trace_id) is not _CLOSED:
            self._traces.pop(trace.trace_id, None)

    def on_span_start(self, span: Any) -> None:
        """Count a span that begins."""
        case = self._case_of(span)
        if case is not None:
            case.begin()

    def on_span_end(self, span: Any) -> None:
        """Add a finished span to its case."""
        case = self._case_of(span)
        if case is _CLOSED:
            self._notes.count(LATE)
        elif case is not None:
            parsed_span = parse_span(_export_of(span))
            if parsed_span is not None:
                case.end("agents", parsed_span)

    def shutdown(self) -> None:
        """Stop collecting."""
        self.close()

    def force_flush(self) -> None:
        """Do nothing: each span is added when it ends."""

    def close(self) -> None:
        """Stop collecting; the SDK cannot remove a processor."""
        self._is_open = False
        self._traces.clear()

    def _case_of(self, span: Any) -> CaseSpans | None:
        return self._traces.get(span.trace_id, self._current.get()) if self._is_open else None


_CLOSED = CaseSpans()
"""Placeholder for the case of a trace whose answer is complete."""


def _export_of(span: Any) -> Mapping[str, Any]:
    """Return the SDK's export of a span, with the fields of responses that the export lacks."""
    exported = dict(span.export() or {})
    response = getattr(span.span_data, "response", None)
    if response is not None:
        dumped = response.model_dump(mode="json")
        fields = {key: dumped.get(key) for key in ("model", "output", "usage")}
        exported["span_data"] = {**exported.get("span_data", {}), **{k: v for k, v in fields.items() if v is not None}}
    return exported
