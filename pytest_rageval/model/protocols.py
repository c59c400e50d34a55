"""Protocols of a user's systems and retrievers; no class needs to be subclassed."""

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
    """A system under test that is a coroutine function."""

    def __call__(self, query: Query, /) -> Awaitable[Answer | str]: ...


System = SyncSystem | AsyncSystem


@runtime_checkable
class Retriever(Protocol):
    """Finds passages for a question.

    ``search`` may be a coroutine function. Two attributes are optional. ``in_place`` is True if ``search`` is fast
    enough to run on the event loop. ``facts`` maps names to builtins that describe the retriever and its index:
    ``index``, ``build_s``, ``load_s``, ``disk_bytes``, ``resident_bytes`` and its settings.
    """

    def search(self, query: str, k: int, /) -> Ranking:
        """Return at most ``k`` passages, best first."""
        ...
