"""Whom a model call is charged to."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rageval.errors import found
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls

if TYPE_CHECKING:
    from pytest_rageval.llm.client.journal import CaseJournal
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["SCOPE", "TEST", "Meter", "Scope", "charge", "current", "faulty"]


class Meter:
    """What the models were asked on behalf of one case, and the recordings that it used; safe to use from threads.

    Attributes:
        closed: whether it was read for the last time, so that what is still asked in its name is charged elsewhere.
        asked_model: whether a model was asked for a text, and not only for embeddings.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = Calls()
        self._keys: dict[str, None] = {}
        self._replayed = False
        self.closed = False
        self.asked_model = False

    def add(self, calls: Calls, kind: str = "model") -> None:
        """Charge ``calls`` of a model of a kind, as recordings call it."""
        with self._lock:
            self._calls += calls
            self.asked_model = self.asked_model or kind != "embedding"

    def use(self, key: str, *, replayed: bool = False) -> None:
        """Note that the recording ``key`` was written, or read and ``replayed``."""
        with self._lock:
            self._keys[key] = None
            self._replayed = self._replayed or replayed

    def take_over(self, calls: Calls) -> None:
        """Charge ``calls`` of an earlier run, whose time nobody can measure any more."""
        with self._lock:
            self._calls += calls
            self._replayed = True

    @property
    def calls(self) -> Calls:
        """What was charged so far."""
        with self._lock:
            return self._calls

    @property
    def replayed(self) -> bool:
        """Whether anything was replayed, so that the time that all took is nobody's latency."""
        with self._lock:
            return self._replayed

    @property
    def keys(self) -> tuple[str, ...]:
        """The recordings used so far, each once, in the order of their first use."""
        with self._lock:
            return tuple(self._keys)


@dataclass(frozen=True, slots=True)
class Scope:
    """On whose behalf models are asked.

    Attributes:
        meter: what is charged.
        repeat: which repetition of the case asks, from 1; a recording belongs to one.
        cassettes: where functions of a user's are recorded; None where they are only called.
        journal: where calls are written before they start and after they end; None writes nothing.
    """

    meter: Meter
    repeat: int = 1
    cassettes: Cassettes | None = None
    journal: CaseJournal | None = None


SCOPE: ContextVar[Scope | None] = ContextVar("rageval_scope", default=None)
"""The scope of the running code; a task and ``asyncio.to_thread`` inherit it."""


class _Test(threading.local):
    scope: Scope | None = None


TEST = _Test()
"""The scope of the test that this thread runs; a task that was there before, as anyio's runner, does not inherit it."""


def current(outside: Meter | None = None) -> Scope:
    """Return the scope of the running code, else of this thread's test, else one that charges ``outside``.

    Without that it is a throw-away one.
    """
    scope = SCOPE.get()
    if scope is None or scope.meter.closed:
        scope = TEST.scope
    return scope or Scope(outside or Meter())


def faulty(usage: Usage) -> str:
    """Return what is wrong with a usage that has a fault, for a message."""
    return f"a {usage.fault} of {found(getattr(usage, str(usage.fault)))}, wanted a finite number of 0 or more"


def charge(usage: Usage | None, *, replayed: bool = False) -> None:
    """Charge the scope with what an answer says that it took, as one call, when that is known and not nothing.

    A usage that is wrong, such as a negative cost, is not charged: its case becomes an error.
    """
    if usage is None or usage.fault or not (usage.prompt_tokens or usage.completion_tokens or usage.cost_usd):
        return
    spent = 0.0 if replayed else usage.cost_usd
    tokens = usage.prompt_tokens, usage.completion_tokens
    current().meter.add(Calls(1, int(replayed), int(not replayed), *tokens, usage.cost_usd, spent))
