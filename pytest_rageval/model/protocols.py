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
    """Finds passages for a question.

    ``search`` may be a coroutine function. Two attributes are read where there are any: ``in_place``, True for one that
    is so quick that it may be called on the event loop, and ``facts``, a mapping of what there is to tell of it and its
    index, as builtins: ``index build_s load_s disk_bytes resident_bytes`` and its settings.
    """

    def search(self, query: str, k: int, /) -> Ranking:
        """Return at most ``k`` passages, best first."""
        ...
