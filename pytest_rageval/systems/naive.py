"""Naive RAG: retrieve, then generate. The default system under test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, cast

from pytest_rageval.errors import RagEvalError, RetrieverError, SettingError, SystemContractError
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Passage, Query
from pytest_rageval.model.facts import RETRIEVE, facts_of, retriever_of
from pytest_rageval.model.protocols import AsyncSystem, Retriever, SyncSystem, System
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.systems.calling import checked, is_async, system_name
from pytest_rageval.systems.parts import SystemParts, no_passages
from pytest_rageval.systems.threads import Bound

__all__ = ["AsyncRetrieveThenGenerate", "RetrieveThenGenerate", "naive"]

T = TypeVar("T")


def naive(parts: SystemParts) -> System:
    """Return the system that retrieves and then generates; async when the generator or the retriever is.

    Raises:
        SettingError: there is no generator.
    """
    if parts.generator is None:
        raise SettingError("retrieve-then-generate needs a generator; override the `rag_generator` fixture")
    if is_async(parts.generator) or is_async(getattr(parts.retriever, "search", None)):
        return AsyncRetrieveThenGenerate(parts.retriever, parts.generator, parts.top_k)
    return RetrieveThenGenerate(parts.retriever, cast("SyncSystem", parts.generator), parts.top_k)


@dataclass(frozen=True, slots=True)
class RetrieveThenGenerate:
    """Finds passages for a query that comes without, and has the generator answer from them.

    A query with passages goes to the generator as it is. Otherwise the answer carries the ranking
    and, in its trace, the steps "retrieve" and "generate" with their seconds. Of what was retrieved it reads the
    passages with a text; where none of them has one, nothing is generated, and the ranking is all that there is.

    Attributes:
        retriever: finds the passages; None makes a query without passages a `CaseError`.
        generator: answers from the passages.
        top_k: how many passages are asked for.
    """

    retriever: Retriever | None
    generator: SyncSystem
    top_k: int = 5

    def __call__(self, query: Query) -> Answer | str:
        if query.passages is not None:
            return self.generator(query)
        ranking, retrieved = _retrieve(self.retriever, query.question, self.top_k)
        if _is_unread(ranking):
            return _unread(ranking, retrieved)
        start = time.perf_counter()
        value = self.generator(_with_passages(query, ranking))
        return _answer(value, system_name(self.generator), ranking, (retrieved, _step("generate", start)))


@dataclass(frozen=True, slots=True)
class AsyncRetrieveThenGenerate:
    """The same as `RetrieveThenGenerate` where one of the two is async, on an event loop that other cases share.

    A retriever whose ``search`` is a coroutine function is awaited there. Any other is called in a thread of its own,
    the same one for every case and one case at a time, while the generator is at others; where nothing is ever waited
    for, as all is replayed, there is no event loop and it is called in place. One that is ``in_place`` always is.
    A generator that is not async is called in such a thread, too.
    """

    retriever: Retriever | None
    generator: System
    top_k: int = 5
    _bound: Bound = field(default_factory=lambda: Bound(1), init=False, repr=False, compare=False)

    async def __call__(self, query: Query) -> Answer | str:
        if query.passages is not None:
            return await self._generated(query)
        ranking, retrieved = await self._retrieved(query.question)
        if _is_unread(ranking):
            return _unread(ranking, retrieved)
        start = time.perf_counter()
        value = await self._generated(_with_passages(query, ranking))
        return _answer(value, system_name(self.generator), ranking, (retrieved, _step("generate", start)))

    async def _retrieved(self, question: str) -> tuple[Ranking, Step]:
        search: Any = getattr(self.retriever, "search", None)
        if is_async(search):
            start = time.perf_counter()
            with _told(self.retriever):
                ranking = await search(question, self.top_k)
            return _checked_ranking(self.retriever, ranking), _retrieval(self.retriever, start)
        retrieve = partial(_retrieve, self.retriever, question, self.top_k)
        if self.retriever is None or getattr(self.retriever, "in_place", False):
            return retrieve()
        return await self._apart(retrieve)

    async def _generated(self, query: Query) -> Answer | str:
        if is_async(self.generator):
            return await cast("AsyncSystem", self.generator)(query)
        return await self._apart(partial(cast("SyncSystem", self.generator), query))

    async def _apart(self, call: Callable[[], T]) -> T:
        if not _is_on_a_loop():
            return call()
        async with self._bound.slots:
            return await self._bound.threads.run(call)


def _is_on_a_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _retrieve(retriever: Retriever | None, question: str, top_k: int) -> tuple[Ranking, Step]:
    if retriever is None:
        raise no_passages()
    start = time.perf_counter()
    with _told(retriever):
        ranking = retriever.search(question, top_k)
    return _checked_ranking(retriever, ranking), _retrieval(retriever, start)


@contextmanager
def _told(retriever: Retriever | None) -> Iterator[None]:
    """Turn what a retriever raises into a `RetrieverError`, with the traceback of its own code."""
    try:
        yield
    except RagEvalError:
        raise
    except Exception as error:
        raise RetrieverError(system_name(retriever), error).with_traceback(error.__traceback__) from error


def _checked_ranking(retriever: Retriever | None, ranking: object) -> Ranking:
    if not isinstance(ranking, Ranking):
        raise SystemContractError(
            f"rag_retriever {system_name(retriever)!r} returned a {type(ranking).__name__}; it must return a Ranking"
        )
    return ranking


def _is_unread(ranking: Ranking) -> bool:
    """Return whether passages were found, and of none of them the text is known."""
    return len(ranking) > 0 and not any(item.text for item in ranking)


def _unread(ranking: Ranking, retrieved: Step) -> Answer:
    """Return a ranking from which nothing can be answered; nobody was asked, so that it costs nothing."""
    return Answer("", ranking, trace=(retrieved,), usage=Usage(0, 0, 0.0), generated=False)


def _with_passages(query: Query, ranking: Ranking) -> Query:
    return replace(query, passages=tuple(Passage(i.doc_id, i.text, i.title) for i in ranking if i.text))


def _answer(value: object, generator: str, ranking: Ranking, steps: tuple[Step, Step]) -> Answer:
    answer = checked(value, generator, part="rag_generator")
    retrieved, generated = steps
    read = ranking if answer.ranking is None else answer.ranking  # a generator that ranks anew has the last word
    return replace(answer, ranking=read, trace=(retrieved, *answer.trace, generated))


def _retrieval(retriever: Retriever | None, start: float) -> Step:
    """Return the step of a search that began at ``start``; it names a retriever that tells of itself."""
    step = _step(RETRIEVE, start)
    name = retriever_of(facts_of(retriever))
    return replace(step, detail={**step.detail, "retriever": name}) if name else step


def _step(kind: str, start: float) -> Step:
    return Step(kind, {"seconds": time.perf_counter() - start})
