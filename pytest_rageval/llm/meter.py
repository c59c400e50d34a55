"""Whom a model call is charged to."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass

from pytest_rageval.model.calls import Calls

__all__ = ["SCOPE", "Meter", "Scope", "current"]


class Meter:
    """What the models were asked on behalf of one case, and the recordings that it used; safe to use from threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = Calls()
        self._keys: dict[str, None] = {}

    def add(self, calls: Calls) -> None:
        """Charge ``calls``."""
        with self._lock:
            self._calls += calls

    def use(self, key: str) -> None:
        """Note that the recording ``key`` was read or written."""
        with self._lock:
            self._keys[key] = None

    @property
    def calls(self) -> Calls:
        """What was charged so far."""
        with self._lock:
            return self._calls

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
    """

    meter: Meter
    repeat: int = 1


SCOPE: ContextVar[Scope | None] = ContextVar("rageval_scope", default=None)
"""The scope of the running code; a task and ``asyncio.to_thread`` inherit it."""


def current() -> Scope:
    """Return the scope of the running code, a throw-away one when none is set."""
    return SCOPE.get() or Scope(Meter())
