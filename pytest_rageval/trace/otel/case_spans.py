"""The spans of one call of a system, and the interface of sources of spans."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pytest_rageval.trace.collector import Collector
    from pytest_rageval.trace.otel.dialect import Source
    from pytest_rageval.trace.otel.spans import Span

__all__ = ["CaseSpans", "SpanSource"]


@dataclass(eq=False, slots=True)
class CaseSpans:
    """The spans of one call of a system; thread-safe.

    Attributes:
        ended: the finished spans, with the library that wrote them.
        running: number of open spans.
    """

    ended: list[tuple[Source, Span]] = field(default_factory=list)
    running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Count a span that begins."""
        with self.lock:
            self.running += 1

    def end(self, source: Source, span: Span) -> None:
        """Add a finished span."""
        with self.lock:
            self.running -= 1
            self.ended.append((source, span))

    def fill(self, collector: Collector) -> None:
        """Add the steps among the spans to the collector of the answer."""
        if not self.ended:
            return
        from pytest_rageval.trace.otel.convert import events_of

        for source in dict.fromkeys(source for source, _ in self.ended):
            for event in events_of([span for each, span in self.ended if each == source]):
                event.source = source
                collector.add(event)


class SpanSource(Protocol):
    """A library whose spans are collected."""

    def case(self, spans: CaseSpans, names: dict[str, str]) -> Any:
        """Return a context manager around one call of a system; it yields the context of its span, or None."""
        ...

    def close(self) -> None:
        """Stop collecting."""
        ...
