"""Collect the spans of each case while its system runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from pytest_rageval.trace.otel.case_spans import CaseSpans, SpanSource
from pytest_rageval.trace.otel.notes import Notes

if TYPE_CHECKING:
    from pytest_rageval.trace.collector import Collector

__all__ = [
    "AUTO",
    "OFF",
    "OTEL",
    "CaseTrace",
    "LiveTraces",
    "Mode",
    "begin_case",
    "case_span",
    "close_traces",
    "has_sdk",
    "late_spans",
    "open_traces",
]

Mode = Literal["auto", "otel", "off"]
AUTO: Mode = "auto"
OTEL: Mode = "otel"
OFF: Mode = "off"

LATE_S = 1.0
"""Seconds to wait for spans that are still open after the answer of the system."""

SDK = "opentelemetry.sdk.trace"
POLL_S = 0.005


@dataclass(eq=False, slots=True)
class CaseTrace:
    """The case of a test, and the span that its verdicts belong to.

    Attributes:
        case_id, testbed: the case and its testbed.
        context: the span context of its answer; None before the call of the system, and without OpenTelemetry.
    """

    case_id: str
    testbed: str
    context: Any = None


_CASE: ContextVar[CaseTrace | None] = ContextVar("rageval_case_trace", default=None)
_SPANS: ContextVar[CaseSpans | None] = ContextVar("rageval_case_spans", default=None)
_live: LiveTraces | None = None
_NO_SPAN: AbstractContextManager[None] = nullcontext()


class LiveTraces:
    """The collection of spans in a session.

    The libraries are chosen at the first case, because the user's fixtures have set up their instrumentation by then.
    OpenTelemetry is imported only if its spans are collected.

    Args:
        mode: the setting ``rag_traces``.

    Attributes:
        notes: counts spans that belong to no answer.
        closing: functions to call at the end of the session.
    """

    def __init__(self, mode: Mode) -> None:
        self.notes = Notes()
        self.closing: list[Callable[[], object]] = []
        self._mode = mode
        self._sources: list[SpanSource] | None = None
        self._sources_lock = threading.Lock()

    @property
    def sources(self) -> list[SpanSource]:
        """The libraries whose spans are collected."""
        with self._sources_lock:
            if self._sources is None:
                self._sources = list(self._start_sources())
            return self._sources

    def _start_sources(self) -> Iterator[SpanSource]:
        if self._mode == OFF:
            return
        if self._mode == OTEL or SDK in sys.modules:
            from pytest_rageval.trace.otel.otel_spans import OtelSpans

            source = OtelSpans.start(_SPANS, self.notes, _has_case)
            if source is not None:
                yield source
        if hasattr(sys.modules.get("agents"), "add_trace_processor"):
            from pytest_rageval.trace.otel.agents_spans import AgentsSpans

            yield AgentsSpans(_SPANS, self.notes)

    def close(self) -> list[str]:
        """Stop collecting; return notes for the summary."""
        for source in self._sources or ():
            source.close()
        self._sources = []
        for end in self.closing:
            end()
        return self.notes.sentences()


def open_traces(mode: Mode) -> LiveTraces:
    """Start to collect the spans of all cases."""
    global _live
    _live = LiveTraces(mode)
    return _live


def close_traces(live: LiveTraces) -> list[str]:
    """Stop collecting, and return the notes of the session."""
    global _live
    if _live is live:
        _live = None
    return live.close()


def has_sdk() -> bool:
    """Return whether OpenTelemetry's SDK is installed; import at most its parent packages."""
    try:
        return SDK in sys.modules or find_spec(SDK) is not None
    except ImportError:
        return False


def _has_case() -> bool:
    return _CASE.get() is not None


def begin_case(case_id: str, testbed: str) -> CaseTrace:
    """Set and return the case of this context."""
    case = CaseTrace(case_id, testbed)
    _CASE.set(case)
    return case


def case_span(case_id: str, system: str, collector: Collector) -> AbstractContextManager[None]:
    """Call a system inside a span ``rageval.case``, and add the steps among its spans to the collector."""
    sources = () if _live is None else _live.sources
    return _span(sources, case_id, system, collector) if sources else _NO_SPAN


@contextmanager
def _span(sources: Sequence[SpanSource], case_id: str, system: str, collector: Collector) -> Iterator[None]:
    case, spans = _CASE.get(), CaseSpans()
    names = {"rageval.case.id": case_id, "rageval.system": system}
    if case is not None and case.testbed:
        names["rageval.testbed"] = case.testbed
    token = _SPANS.set(spans)
    try:
        yield from _in_all(list(sources), spans, names, case if case is not None and case.case_id == case_id else None)
    finally:
        _SPANS.reset(token)
        spans.fill(collector)


def _in_all(
    sources: list[SpanSource], spans: CaseSpans, names: dict[str, str], case: CaseTrace | None
) -> Iterator[None]:
    """Enter the context managers of all sources, one inside the other, and wait for open spans at the end."""
    if not sources:
        yield
        _wait(spans)
        return
    with sources[0].case(spans, names) as context:
        if case is not None and case.context is None:
            case.context = context
        yield from _in_all(sources[1:], spans, names, case)


def _wait(spans: CaseSpans) -> None:
    """Block this thread until open spans end; a thread with an event loop awaits `late_spans` instead."""
    if not spans.running or _has_loop():
        return
    deadline = time.monotonic() + LATE_S
    while spans.running and time.monotonic() < deadline:
        time.sleep(POLL_S)


async def late_spans() -> None:
    """Wait on the event loop for spans of this case that are still open."""
    spans = _SPANS.get()
    if spans is None or not spans.running:
        return
    import asyncio

    deadline = time.monotonic() + LATE_S
    while spans.running and time.monotonic() < deadline:
        await asyncio.sleep(POLL_S)


def _has_loop() -> bool:
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None
