"""The spans of one call of a system, and what a library that writes spans has to do."""

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
    """The spans of one call of a system; several threads add to it.

    Attributes:
        ended: the spans that have ended, with the library that wrote them.
        running: how many have begun and not ended.
    """

    ended: list[tuple[Source, Span]] = field(default_factory=list)
    running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        """Count a span that begins."""
        with self.lock:
            self.running += 1

    def end(self, source: Source, span: Span) -> None:
        """Add a span that has ended."""
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
        """Return a context manager around one call of a system; it gives the context of its span, or None."""
        ...

    def close(self) -> None:
        """Collect nothing any more."""
        ...
