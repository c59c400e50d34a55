"""Search with a retriever, sync or async, and check the ranking that it returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from pytest_rageval.errors import RagEvalError, RetrieverError, SystemContractError
from pytest_rageval.llm.client.usage_meter import current
from pytest_rageval.model.facts import facts_of, retriever_of
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.systems.calling import is_async, system_name
from pytest_rageval.systems.parts import no_passages
from pytest_rageval.threads import CallLimit

__all__ = ["AsyncSearch", "SearchResult", "has_no_text", "search"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search.

    Attributes:
        ranking: the passages, best first.
        seconds: the time of the search, without the wait for a thread; None if it was replayed.
        retriever: the name that the retriever reports in its facts; "" if it reports none.
    """

    ranking: Ranking
    seconds: float | None
    retriever: str = ""


@dataclass(frozen=True, slots=True)
class AsyncSearch:
    """Searches on an event loop shared by all cases.

    An async ``search`` is awaited. A sync one runs in a thread, one case at a time. It is called directly if the
    retriever is ``in_place``, or if there is no event loop because every call is replayed.

    Attributes:
        retriever: finds the passages; with None, each search is a `CaseError`.
    """

    retriever: Retriever | None
    _bound: CallLimit = field(default_factory=lambda: CallLimit(1), init=False, repr=False, compare=False)

    async def find(self, question: str, k: int) -> SearchResult:
        """Return at most ``k`` passages."""
        method: Any = getattr(self.retriever, "search", None)
        if is_async(method):
            start, meter = time.perf_counter(), current().meter
            replays = meter.replays
            with _wrap_errors(self.retriever):
                ranking = await method(question, k)
            result = _result(self.retriever, ranking, start)
            return result if meter.replays == replays else replace(result, seconds=None)
        call = partial(search, self.retriever, question, k)
        if self.retriever is None or getattr(self.retriever, "in_place", False):
            return call()
        return await self.in_thread(call)

    async def in_thread(self, call: Callable[[], T]) -> T:
        """Run a call in the search thread; run it directly if there is no event loop."""
        if not _has_event_loop():
            return call()
        async with self._bound.slots:
            return await self._bound.threads.run(call)


def search(retriever: Retriever | None, question: str, k: int) -> SearchResult:
    """Return at most ``k`` passages of a sync retriever; raise `CaseError` without a retriever."""
    if retriever is None:
        raise no_passages()
    start = time.perf_counter()
    with _wrap_errors(retriever):
        ranking = retriever.search(question, k)
    return _result(retriever, ranking, start)


def has_no_text(ranking: Ranking) -> bool:
    """Return whether the ranking has passages, but none with a text."""
    return len(ranking) > 0 and not any(item.text for item in ranking)


def _has_event_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@contextmanager
def _wrap_errors(retriever: Retriever | None) -> Iterator[None]:
    """Convert an error of a retriever to a `RetrieverError` with the traceback of the retriever's code."""
    try:
        yield
    except RagEvalError:
        raise
    except Exception as error:
        raise RetrieverError(system_name(retriever), error).with_traceback(error.__traceback__) from error


def _result(retriever: Retriever | None, ranking: object, start: float) -> SearchResult:
    """Return the result of a search that began at ``start``; raise `SystemContractError` if it is no ranking."""
    seconds = time.perf_counter() - start
    if not isinstance(ranking, Ranking):
        raise SystemContractError(
            f"rag_retriever {system_name(retriever)!r} returned a {type(ranking).__name__}; it must return a Ranking"
        )
    if (fault := ranking.fault) is not None:
        raise SystemContractError(f"rag_retriever {system_name(retriever)!r} returned a Ranking that {fault}")
    return SearchResult(ranking, seconds, retriever_of(facts_of(retriever)) or "")
