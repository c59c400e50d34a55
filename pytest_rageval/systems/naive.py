"""The default system under test: retrieve passages, then generate an answer."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from pytest_rageval.errors import SettingError
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Passage, Query
from pytest_rageval.model.facts import RETRIEVE
from pytest_rageval.model.protocols import AsyncSystem, Retriever, SyncSystem, System
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.systems.calling import is_async, system_name, to_answer
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.searching import AsyncSearch, SearchResult, has_no_text, search

__all__ = ["AsyncRetrieveThenGenerate", "RetrieveThenGenerate", "naive"]


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
    """Retrieves passages if the query supplies none, then calls the generator.

    A query with passages goes to the generator unchanged. Otherwise, the answer contains the ranking, and its trace has
    the steps "retrieve" and "generate" with their seconds. The generator gets the passages that have a text. If none
    has a text, the generator is not called, and the answer contains only the ranking.

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
        result = search(self.retriever, query.question, self.top_k)
        if has_no_text(result.ranking):
            return _ranking_only(result)
        start = time.perf_counter()
        value = self.generator(_with_passages(query, result.ranking))
        return _answer(value, system_name(self.generator), result, _step("generate", start))


@dataclass(frozen=True, slots=True)
class AsyncRetrieveThenGenerate:
    """Like `RetrieveThenGenerate`, for an async retriever or generator, on an event loop shared by all cases.

    A sync search or generator runs in a thread, one case at a time; see `AsyncSearch`.
    """

    retriever: Retriever | None
    generator: System
    top_k: int = 5
    _search: AsyncSearch = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_search", AsyncSearch(self.retriever))

    async def __call__(self, query: Query) -> Answer | str:
        if query.passages is not None:
            return await self._generate(query)
        result = await self._search.find(query.question, self.top_k)
        if has_no_text(result.ranking):
            return _ranking_only(result)
        start = time.perf_counter()
        value = await self._generate(_with_passages(query, result.ranking))
        return _answer(value, system_name(self.generator), result, _step("generate", start))

    async def _generate(self, query: Query) -> Answer | str:
        if is_async(self.generator):
            return await cast("AsyncSystem", self.generator)(query)
        return await self._search.in_thread(partial(cast("SyncSystem", self.generator), query))


def _ranking_only(result: SearchResult) -> Answer:
    """Return an answer with only a ranking; no model was called, so its cost is 0."""
    return Answer("", result.ranking, trace=(_retrieval_step(result),), usage=Usage(0, 0, 0.0), generated=False)


def _with_passages(query: Query, ranking: Ranking) -> Query:
    return replace(query, passages=tuple(Passage(i.doc_id, i.text, i.title) for i in ranking if i.text))


def _answer(value: object, generator: str, result: SearchResult, generation_step: Step) -> Answer:
    answer = to_answer(value, generator, part="rag_generator")
    final = result.ranking if answer.ranking is None else answer.ranking  # a generator may rerank
    return replace(answer, ranking=final, trace=(_retrieval_step(result), *answer.trace, generation_step))


def _retrieval_step(result: SearchResult) -> Step:
    """Return the step of a search, with its seconds and the retriever's name, if known."""
    detail = {"seconds": result.seconds, "retriever": result.retriever}
    return Step(RETRIEVE, {name: value for name, value in detail.items() if value not in (None, "")})


def _step(kind: str, start: float) -> Step:
    return Step(kind, {"seconds": time.perf_counter() - start})
