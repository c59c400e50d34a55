"""The default system under test: retrieve, then generate."""

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
from pytest_rageval.threads import Bound

__all__ = ["AsyncRetrieveThenGenerate", "RetrieveThenGenerate", "naive"]

T = TypeVar("T")


def naive(parts: SystemParts) -> System:
    """Return the system that retrieves and then generates; it is async if the generator or the retriever is.

    Raises:
        SettingError: the session has no generator.
    """
    if parts.generator is None:
        raise SettingError("retrieve-then-generate needs a generator; override the `rag_generator` fixture")
    if is_async(parts.generator) or is_async(getattr(parts.retriever, "search", None)):
        return AsyncRetrieveThenGenerate(parts.retriever, parts.generator, parts.top_k)
    return RetrieveThenGenerate(parts.retriever, cast("SyncSystem", parts.generator), parts.top_k)


@dataclass(frozen=True, slots=True)
class RetrieveThenGenerate:
    """Retrieves passages for a query without any, and lets the generator answer from them.

    A query with passages goes to the generator unchanged. Otherwise the answer contains the ranking, and its trace the
    steps "retrieve" and "generate" with their seconds. The generator reads the passages with a text. If no retrieved
    passage has a text, it is not called, and the answer contains only the ranking.

    Attributes:
        retriever: finds the passages; with None, a query without passages is a `CaseError`.
        generator: answers from the passages.
        top_k: passages per retrieval.
    """

    retriever: Retriever | None
    generator: SyncSystem
    top_k: int = 5

    def __call__(self, query: Query) -> Answer | str:
        if query.passages is not None:
            return self.generator(query)
        ranking, retrieval_step = _retrieve(self.retriever, query.question, self.top_k)
        if _has_no_text(ranking):
            return _ranking_only(ranking, retrieval_step)
        start = time.perf_counter()
        value = self.generator(_with_passages(query, ranking))
        return _answer(value, system_name(self.generator), ranking, (retrieval_step, _step("generate", start)))


@dataclass(frozen=True, slots=True)
class AsyncRetrieveThenGenerate:
    """Like `RetrieveThenGenerate`, for an async retriever or generator, on an event loop shared by all cases.

    An async ``search`` is awaited. A sync one runs in a thread, one case at a time, while the generator works on other
    cases. It is called directly if the retriever is ``in_place``, or if there is no event loop because every call is
    replayed. A sync generator runs in a thread too.
    """

    retriever: Retriever | None
    generator: System
    top_k: int = 5
    _bound: Bound = field(default_factory=lambda: Bound(1), init=False, repr=False, compare=False)

    async def __call__(self, query: Query) -> Answer | str:
        if query.passages is not None:
            return await self._generate(query)
        ranking, retrieval_step = await self._retrieve_async(query.question)
        if _has_no_text(ranking):
            return _ranking_only(ranking, retrieval_step)
        start = time.perf_counter()
        value = await self._generate(_with_passages(query, ranking))
        return _answer(value, system_name(self.generator), ranking, (retrieval_step, _step("generate", start)))

    async def _retrieve_async(self, question: str) -> tuple[Ranking, Step]:
        search: Any = getattr(self.retriever, "search", None)
        if is_async(search):
            start = time.perf_counter()
            with _wrap_errors(self.retriever):
                ranking = await search(question, self.top_k)
            return _check_ranking(self.retriever, ranking), _retrieval_step(self.retriever, start)
        retrieve = partial(_retrieve, self.retriever, question, self.top_k)
        if self.retriever is None or getattr(self.retriever, "in_place", False):
            return retrieve()
        return await self._in_thread(retrieve)

    async def _generate(self, query: Query) -> Answer | str:
        if is_async(self.generator):
            return await cast("AsyncSystem", self.generator)(query)
        return await self._in_thread(partial(cast("SyncSystem", self.generator), query))

    async def _in_thread(self, call: Callable[[], T]) -> T:
        if not _has_event_loop():
            return call()
        async with self._bound.slots:
            return await self._bound.threads.run(call)


def _has_event_loop() -> bool:
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
    with _wrap_errors(retriever):
        ranking = retriever.search(question, top_k)
    return _check_ranking(retriever, ranking), _retrieval_step(retriever, start)


@contextmanager
def _wrap_errors(retriever: Retriever | None) -> Iterator[None]:
    """Convert an error of a retriever to a `RetrieverError` with the traceback of its own code."""
    try:
        yield
    except RagEvalError:
        raise
    except Exception as error:
        raise RetrieverError(system_name(retriever), error).with_traceback(error.__traceback__) from error


def _check_ranking(retriever: Retriever | None, ranking: object) -> Ranking:
    if not isinstance(ranking, Ranking):
        raise SystemContractError(
            f"rag_retriever {system_name(retriever)!r} returned a {type(ranking).__name__}; it must return a Ranking"
        )
    return ranking


def _has_no_text(ranking: Ranking) -> bool:
    """Return whether the ranking has passages, but none with a text."""
    return len(ranking) > 0 and not any(item.text for item in ranking)


def _ranking_only(ranking: Ranking, retrieval_step: Step) -> Answer:
    """Return an answer with only a ranking; no model was called, so its cost is 0."""
    return Answer("", ranking, trace=(retrieval_step,), usage=Usage(0, 0, 0.0), generated=False)


def _with_passages(query: Query, ranking: Ranking) -> Query:
    return replace(query, passages=tuple(Passage(i.doc_id, i.text, i.title) for i in ranking if i.text))


def _answer(value: object, generator: str, ranking: Ranking, steps: tuple[Step, Step]) -> Answer:
    answer = checked(value, generator, part="rag_generator")
    retrieval_step, generation_step = steps
    final = ranking if answer.ranking is None else answer.ranking  # a generator may rerank
    return replace(answer, ranking=final, trace=(retrieval_step, *answer.trace, generation_step))


def _retrieval_step(retriever: Retriever | None, start: float) -> Step:
    """Return the step of a search that began at ``start``, with the retriever's name if its facts have one."""
    step = _step(RETRIEVE, start)
    name = retriever_of(facts_of(retriever))
    return replace(step, detail={**step.detail, "retriever": name}) if name else step


def _step(kind: str, start: float) -> Step:
    return Step(kind, {"seconds": time.perf_counter() - start})
