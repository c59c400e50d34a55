"""What a user's own parts must look like. Anything that meets a protocol works; nothing is subclassed."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, runtime_checkable

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Query
from pytest_rageval.model.ranking import Ranking

__all__ = ["AsyncSystem", "Retriever", "SyncSystem", "System"]


class SyncSystem(Protocol):
    """A system under test: a function, a bound method or an object with ``__call__``."""

    def __call__(self, query: Query, /) -> Answer | str: ...


class AsyncSystem(Protocol):
    """The same, as a coroutine function."""

    def __call__(self, query: Query, /) -> Awaitable[Answer | str]: ...


System = SyncSystem | AsyncSystem


@runtime_checkable
class Retriever(Protocol):
    """Finds passages for a question."""

    def search(self, query: str, k: int, /) -> Ranking:
        """Return at most ``k`` passages, best first."""
        ...
