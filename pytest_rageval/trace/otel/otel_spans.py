"""Collect OpenTelemetry spans by case, with a span processor on the user's provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from pytest_rageval.trace.otel.case_spans import CaseSpans
from pytest_rageval.trace.otel.convert import step_spans
from pytest_rageval.trace.otel.notes import LATE, NO_PROVIDER, NOT_SAMPLED, UNKNOWN, Notes
from pytest_rageval.trace.otel.spans import Span, error_of
from pytest_rageval.trace.recording import error_text

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

__all__ = ["OtelSpans", "read_span"]

SPAN = "rageval.case"
RECEIVERS = "_rageval_receivers"
"""Attribute of a provider: the `OtelSpans` that get its spans.

A processor can't be removed, so all sessions of a process share one.
"""

NANO = 1e9


class OtelSpans:
    """Sorts spans by case; exports nothing, and leaves the user's processors in place.

    Args:
        current: the spans of the case that runs in the current context.
        notes: counts the spans that belong to no case.
        in_case: returns whether the current context runs a case or its test; spans that start there outside the case's
            trace come from judges and test functions.
    """

    def __init__(self, current: ContextVar[CaseSpans | None], notes: Notes, in_case: Callable[[], bool]) -> None:
        self._current = current
        self._in_case = in_case
        self._notes = notes
        self._cases: dict[int, CaseSpans] = {}
        self._closed: set[int] = set()
        self._tracer: Any = None
        self._receivers: list[OtelSpans] = []

    @classmethod
    def start(
        cls, current: ContextVar[CaseSpans | None], notes: Notes, in_case: Callable[[], bool]
    ) -> OtelSpans | None:
        """Receive the spans of the global provider; set a provider if the user has none."""
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider

        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider):
            provider = TracerProvider()
            provider.rageval_made = True  # type: ignore[attr-defined] # it has no exporter
            trace.set_tracer_provider(provider)
        add = getattr(provider, "add_span_processor", None)  # wrappers of the SDK's provider have it, too
        if add is None:
            notes.count(NO_PROVIDER)
            return None
        spans = cls(current, notes, in_case)
        spans._tracer = provider.get_tracer("pytest_rageval")
        receivers: list[OtelSpans] | None = getattr(provider, RECEIVERS, None)
        if receivers is None:
            receivers = []
            add(_processor_of(receivers))
            with suppress(AttributeError):  # then the next session adds another processor
                setattr(provider, RECEIVERS, receivers)
        spans._receivers = receivers
        receivers.append(spans)
        return spans

    @contextmanager
    def case(self, spans: CaseSpans, names: dict[str, str]) -> Iterator[Any]:
        """Run one call of a system inside a root span, so it has its own trace even if a span is active."""
        from opentelemetry import context as contexts
        from opentelemetry.trace import StatusCode, set_span_in_context

        span = self._tracer.start_span(SPAN, context=contexts.Context(), attributes=names)
        context = span.get_span_context()
        if not context.trace_flags.sampled:
            self._notes.count(NOT_SAMPLED)
        self._cases[context.trace_id] = spans
        token = contexts.attach(set_span_in_context(span))
        try:
            yield context
        except Exception as error:
            text = error_text(error)  # the SDK's record_exception raises if the user's exception has a broken text
            span.add_event("exception", {"exception.type": type(error).__qualname__, "exception.message": text})
            span.set_status(StatusCode.ERROR, text)
            raise
        finally:
            contexts.detach(token)
            trace_ids = [trace_id for trace_id, case in list(self._cases.items()) if case is spans]
            for trace_id in trace_ids:
                del self._cases[trace_id]
            self._closed.update(trace_ids)
            span.end()

    def begin(self, span: Any) -> None:
        """Count the start of a case's span; a trace that starts in a case's context belongs to that case, too."""
        trace_id = span.context.trace_id
        if self._tracer is None or span.name == SPAN:
            return
        case = self._cases.get(trace_id)
        if case is None and span.parent is None:
            case = self._current.get()
            if case is not None:
                self._cases[trace_id] = case
        if case is not None:
            case.begin()

    def end(self, span: ReadableSpan) -> None:
        """Add an ended span to its case; count it in the notes if it has none."""
        if self._tracer is None or span.context is None or span.name == SPAN:
            return
        case = self._cases.get(span.context.trace_id)
        if case is not None:
            case.end("otel", read_span(span))
        elif span.context.trace_id in self._closed:
            self._notes.count(LATE)
        elif not self._in_case() and step_spans([read_span(span)]):
            self._notes.count(UNKNOWN)

    def close(self) -> None:
        """Stop collecting; the processor stays, because the provider is the user's."""
        self._tracer = None
        self._cases.clear()
        with suppress(ValueError):  # already closed
            self._receivers.remove(self)


def _processor_of(receivers: list[OtelSpans]) -> SpanProcessor:
    """Return a span processor of the SDK that passes each span to all receivers."""
    from opentelemetry.sdk.trace import SpanProcessor

    class Processor(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            for spans in tuple(receivers):
                spans.begin(span)

        def on_end(self, span: ReadableSpan) -> None:
            for spans in tuple(receivers):
                spans.end(span)

    return Processor()


def read_span(span: ReadableSpan) -> Span:
    """Convert a span of the SDK to a `Span`."""
    attributes = _attributes(span.attributes)
    context, parent, end = span.context, span.parent, span.end_time
    return Span(
        span.name,
        "" if context is None else f"{context.trace_id:032x}",
        "" if context is None else f"{context.span_id:016x}",
        "" if parent is None else f"{parent.span_id:016x}",
        (span.start_time or 0) / NANO,
        None if end is None else end / NANO,
        attributes,
        None if span.status.is_ok else _error(span, attributes),
    )


def _error(span: ReadableSpan, attributes: Mapping[str, Any]) -> str | None:
    events = [{"name": each.name, "attributes": dict(each.attributes or {})} for each in span.events]
    status = {"code": span.status.status_code.name, "message": span.status.description}
    return error_of(status, attributes, events)


def _attributes(sdk_attributes: Any) -> dict[str, Any]:
    """Return attributes as JSON values: the SDK stores sequences as tuples."""
    attributes: dict[str, Any] = (
        sdk_attributes.copy() if hasattr(sdk_attributes, "copy") else dict(sdk_attributes or {})
    )
    for key, value in attributes.items():
        if type(value) not in _PLAIN:
            attributes[key] = _plain(value)
    return attributes


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


_PLAIN = (str, int, float, bool)
