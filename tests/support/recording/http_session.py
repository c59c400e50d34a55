"""A session that records HTTP requests to the loopback, without pytest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pytest_rageval.llm.budget import Budget
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.llm.http.hosts import Hosts
from pytest_rageval.llm.http.http_recorder import HttpRecorder
from pytest_rageval.llm.http.patches import Patches
from pytest_rageval.llm.http.price_table import PriceTable
from pytest_rageval.llm.http.spending import Spending
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.model.answer import Step
from pytest_rageval.model.calls import Calls
from pytest_rageval.trace.collector import Collector, collecting

__all__ = ["SessionCalls", "case", "recording", "texts_in"]


@dataclass
class SessionCalls:
    """Calls of a session outside of cases."""

    outside: Meter = field(default_factory=Meter)

    @property
    def calls(self) -> Calls:
        """Its calls."""
        return self.outside.calls


@contextmanager
def recording(
    folder: Path, mode: str | None, *hosts: str, budget: Budget | None = None, partial: bool = False
) -> Iterator[SessionCalls]:
    """Record into ``folder`` inside the block, or only meter if ``mode`` is None."""
    session = SessionCalls()
    cassettes = None if mode is None else Cassettes(folder, mode)
    spending = Spending(PriceTable({}), budget, partial=partial)
    names = Hosts.parse(hosts or ("127.0.0.1:*",), "rag_record_http")
    patches = Patches(HttpRecorder(names, cassettes, spending, session.outside))
    patches.install()
    try:
        yield session
    finally:
        patches.undo()
        if cassettes is not None:
            cassettes.close()


@dataclass
class Case:
    """A running case."""

    meter: Meter
    collector: Collector

    @property
    def calls(self) -> Calls:
        """Its calls."""
        return self.meter.calls

    @property
    def steps(self) -> tuple[Step, ...]:
        """Its trace."""
        return self.collector.steps()


@contextmanager
def case(repeat: int = 1) -> Iterator[Case]:
    """Run a case inside the block."""
    meter = Meter()
    outer = SCOPE.set(Scope(meter, repeat))
    try:
        with collecting() as collector:
            yield Case(meter, collector)
    finally:
        SCOPE.reset(outer)


def texts_in(folder: Path) -> str:
    """Return the text of all recordings in a folder."""
    return "\n".join(path.read_text() for path in sorted(folder.glob("*.jsonl")))
