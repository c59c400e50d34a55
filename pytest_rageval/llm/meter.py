"""Whom a model call is charged to."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls

if TYPE_CHECKING:
    from pytest_rageval.llm.cassettes import Cassettes

__all__ = ["SCOPE", "Meter", "Scope", "charge", "current"]


class Meter:
    """What the models were asked on behalf of one case, and the recordings that it used; safe to use from threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = Calls()
        self._keys: dict[str, None] = {}
        self._replayed = False

    def add(self, calls: Calls) -> None:
        """Charge ``calls``."""
        with self._lock:
            self._calls += calls

    def use(self, key: str, *, replayed: bool = False) -> None:
        """Note that the recording ``key`` was written, or read and ``replayed``."""
        with self._lock:
            self._keys[key] = None
            self._replayed = self._replayed or replayed

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
    """

    meter: Meter
    repeat: int = 1
    cassettes: Cassettes | None = None


SCOPE: ContextVar[Scope | None] = ContextVar("rageval_scope", default=None)
"""The scope of the running code; a task and ``asyncio.to_thread`` inherit it."""


def current() -> Scope:
    """Return the scope of the running code, a throw-away one when none is set."""
    return SCOPE.get() or Scope(Meter())


def charge(usage: Usage | None, *, replayed: bool = False) -> None:
    """Charge the scope with what an answer says that it took, as one call, when that is known and not nothing."""
    if usage is None or not (usage.prompt_tokens or usage.completion_tokens or usage.cost_usd):
        return
    spent = 0.0 if replayed else usage.cost_usd
    tokens = usage.prompt_tokens, usage.completion_tokens
    current().meter.add(Calls(1, int(replayed), int(not replayed), *tokens, usage.cost_usd, spent))
