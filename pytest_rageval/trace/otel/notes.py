"""Count spans and cases without a trace, for the notes at the end of a session."""

from __future__ import annotations

import threading
from collections import Counter

__all__ = ["LATE", "NOT_SAMPLED", "NO_EXPORTER", "NO_PROVIDER", "NO_TRACE", "UNKNOWN", "Notes"]

NOT_SAMPLED = "not sampled"
LATE = "late"
UNKNOWN = "unknown"
NO_PROVIDER = "no provider"
NO_TRACE = "no trace"
NO_EXPORTER = "no exporter"

_SENTENCES = {
    NOT_SAMPLED: "trace: {n} cases were not sampled by your TracerProvider, so their steps are unknown; "
    "sample all spans in tests",
    LATE: "trace: {n} spans ended more than 1 s after their answer and are in no trace",
    UNKNOWN: "trace: {n} spans of model, tool or search calls began outside of a case and are in no trace",
    NO_PROVIDER: "trace: your TracerProvider takes no span processor, so no span is collected",
    NO_TRACE: "--rag-otel: {n} cases have no trace, so their verdicts were not sent; recorded answers need the facets "
    "trace_id and span_id, as rageval import otel writes them",
    NO_EXPORTER: "--rag-otel: the verdicts of {n} cases were not sent; set a LoggerProvider or a TracerProvider with "
    "an exporter, for instance in conftest.py",
}


class Notes:
    """Thread-safe counters by kind of note."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def count(self, what: str) -> None:
        """Increment the counter of a kind."""
        with self._lock:
            self._counts[what] += 1

    def sentences(self) -> list[str]:
        """Return one sentence for each kind that occurred."""
        return [text.format(n=self._counts[what]) for what, text in _SENTENCES.items() if self._counts[what]]
