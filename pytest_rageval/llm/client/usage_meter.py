"""Charge model calls to the case that makes them."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rageval.errors import RagEvalError, short_repr
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import NO_CALLS, Calls

if TYPE_CHECKING:
    from pytest_rageval.llm.client.journal import CaseJournal
    from pytest_rageval.llm.recordings.cassettes import Cassettes

__all__ = ["SCOPE", "TEST", "Meter", "RefusedCallError", "Scope", "charge", "current", "describe_fault", "renews"]


class RefusedCallError(BaseException):
    """A request of a user's system was not sent: it is not recorded, or the budget is spent.

    It is not an `Exception`: clients do not retry it, and systems do not catch it and answer anyway.

    Attributes:
        error: the reason.
    """

    def __init__(self, error: RagEvalError) -> None:
        super().__init__(str(error))
        self.error = error


class Meter:
    """Counts the model calls and recordings of one case; safe to use from threads.

    Attributes:
        closed: whether its case has ended, so later calls are charged elsewhere.
        asked_model: whether a chat model was called, not only an embedding model.
        refused: the error of the first refused request; None if no request was refused.
        replays: the number of replayed recordings.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = NO_CALLS
        self._keys: dict[str, None] = {}
        self._replayed = False
        self.replays = 0
        self.closed = False
        self.asked_model = False
        self.refused: RagEvalError | None = None

    def refuse(self, error: RagEvalError) -> None:
        """Note that a request was refused; its case has no answer, even if the system catches the error."""
        with self._lock:
            self.refused = self.refused or error

    def add(self, calls: Calls, kind: str = "model") -> None:
        """Charge ``calls`` of a model of this kind: "model", "judge" or "embedding"."""
        with self._lock:
            self._calls += calls
            self.asked_model = self.asked_model or kind != "embedding"

    def use(self, key: str, *, replayed: bool = False) -> None:
        """Note that the recording ``key`` was written, or read and ``replayed``."""
        with self._lock:
            self._keys[key] = None
            self._replayed = self._replayed or replayed
            self.replays += replayed

    def take_over(self, calls: Calls) -> None:
        """Charge ``calls`` of an earlier run; the time of this run is then not a latency."""
        with self._lock:
            self._calls += calls
            self._replayed = True

    @property
    def calls(self) -> Calls:
        """The calls charged so far."""
        with self._lock:
            return self._calls

    @property
    def replayed(self) -> bool:
        """Whether any call was replayed; then the elapsed time is not a latency."""
        with self._lock:
            return self._replayed

    @property
    def keys(self) -> tuple[str, ...]:
        """The recordings used so far, each once, in the order of their first use."""
        with self._lock:
            return tuple(self._keys)


@dataclass(frozen=True, slots=True)
class Scope:
    """The case that model calls belong to.

    Attributes:
        meter: the meter to charge.
        repeat: number of the repetition, from 1; each repetition has its own recordings.
        cassettes: recordings of users' functions; None if calls are neither recorded nor replayed.
        journal: receives a line at the start and end of each call; None writes nothing.
        renewed: whether the case's calls are recorded again, whatever the mode.
    """

    meter: Meter
    repeat: int = 1
    cassettes: Cassettes | None = None
    journal: CaseJournal | None = None
    renewed: bool = False


SCOPE: ContextVar[Scope | None] = ContextVar("rageval_scope", default=None)
"""The scope of the running code; a task and ``asyncio.to_thread`` inherit it."""


class _Test(threading.local):
    scope: Scope | None = None


TEST = _Test()
"""The scope of this thread's test; used by tasks created before the test, such as anyio's runner."""


def current(outside: Meter | None = None) -> Scope:
    """Return the scope of the running code, of this thread's test, or a new one that charges ``outside``."""
    scope = SCOPE.get()
    if scope is None or scope.meter.closed:
        scope = TEST.scope
    return scope or Scope(outside or Meter())


def renews() -> bool:
    """Return whether the calls of the running case are recorded again."""
    return current().renewed


def describe_fault(usage: Usage) -> str:
    """Return the description of a usage's fault, for a message."""
    return f"a {usage.fault} of {short_repr(getattr(usage, str(usage.fault)))}, wanted a finite number of 0 or more"


def charge(usage: Usage | None, *, replayed: bool = False) -> None:
    """Charge the usage of an answer to the current scope as one call, if it is known and not zero.

    An invalid usage, such as a negative cost, is not charged: its case becomes an error.
    """
    if usage is None or usage.fault or not (usage.prompt_tokens or usage.completion_tokens or usage.cost_usd):
        return
    spent = 0.0 if replayed else usage.cost_usd
    tokens = usage.prompt_tokens, usage.completion_tokens
    current().meter.add(Calls(1, int(replayed), int(not replayed), *tokens, usage.cost_usd, spent))
