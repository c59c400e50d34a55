"""The naive system: one search, then one call of the generator."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable
from typing import cast

import pytest

from pytest_rageval.engine.loop import NoLoop
from pytest_rageval.errors import CaseError, SettingError, SystemContractError
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Passage, Query, Turn
from pytest_rageval.model.protocols import Retriever, System
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval.bm25 import Bm25Retriever
from pytest_rageval.retrieval.bm25 import build as bm25
from pytest_rageval.retrieval.retriever_parts import RetrieverParts
from pytest_rageval.systems import BUILTIN, SystemFactory, SystemParts
from pytest_rageval.systems.calling import is_async
from pytest_rageval.systems.naive import naive

RANKING = Ranking((ScoredPassage("d2", 2.0, "second", "T"), ScoredPassage("d1", 1.0, "first")))


class Recorder:
    """A retriever that always returns the same passages and records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def search(self, query: str, k: int) -> Ranking:
        self.calls.append((query, k))
        return RANKING


class Generator:
    """A generator that records its queries."""

    def __init__(self, value: object = "text") -> None:
        self.queries: list[Query] = []
        self.value = value

    def __call__(self, query: Query) -> Answer | str:
        self.queries.append(query)
        return cast("Answer | str", self.value)


class AsyncGenerator(Generator):
    """Like `Generator`, but async."""

    async def __call__(self, query: Query) -> Answer | str:  # type: ignore[override]
        self.queries.append(query)
        return cast("Answer | str", self.value)


def ask(system: System, query: Query) -> Answer | str:
    async def await_answer() -> Answer | str:
        return await cast("Awaitable[Answer | str]", system(query))

    return asyncio.run(await_answer()) if is_async(system) else cast("Answer | str", system(query))


@pytest.fixture(params=[Generator, AsyncGenerator])
def generator(request: pytest.FixtureRequest) -> Generator:
    generator: Generator = request.param()
    return generator


def as_system(generator: Generator) -> System:
    return cast("System", generator)


def test_the_system_is_async_when_its_generator_is() -> None:
    assert not is_async(naive(SystemParts(generator=as_system(Generator()))))
    assert is_async(naive(SystemParts(generator=as_system(AsyncGenerator()))))


def test_a_query_without_passages_is_searched(generator: Generator) -> None:
    retriever = Recorder()
    query = Query("q?", None, (Turn("a", "b"),), "zh", "be brief")
    answer = ask(naive(SystemParts(retriever, as_system(generator), top_k=7)), query)
    assert retriever.calls == [("q?", 7)]
    assert generator.queries == [
        Query("q?", (Passage("d2", "second", "T"), Passage("d1", "first")), query.history, "zh", "be brief")
    ]
    assert isinstance(answer, Answer)
    assert answer.text == "text"
    assert answer.ranking == RANKING


class TextRetriever:
    """A retriever that returns one passage per text."""

    def __init__(self, *texts: str) -> None:
        self.ranking = Ranking(tuple(ScoredPassage(f"d{at}", text=text, title="T") for at, text in enumerate(texts)))

    def search(self, query: str, k: int) -> Ranking:
        return self.ranking


def test_without_a_retrieved_text_nothing_is_generated(generator: Generator) -> None:
    answer = ask(naive(SystemParts(TextRetriever("", ""), as_system(generator))), Query("q?"))
    assert isinstance(answer, Answer)
    assert (answer.text, answer.generated, generator.queries) == ("", False, [])
    assert answer.ranking == TextRetriever("", "").ranking
    assert [step.kind for step in answer.trace] == ["retrieve"]
    assert answer.usage == Usage(0, 0, 0.0)  # no call, so the cost is known to be 0


def test_passages_without_a_text_are_not_read(generator: Generator) -> None:
    for texts, passages in ((("", "b"), (Passage("d1", "b", "T"),)), ((), ())):
        answer = ask(naive(SystemParts(TextRetriever(*texts), as_system(generator))), Query("q?"))
        assert isinstance(answer, Answer)
        assert (answer.generated, answer.ranking) == (True, TextRetriever(*texts).ranking)
        assert generator.queries[-1].passages == passages


def test_the_trace_holds_both_steps_with_their_seconds(generator: Generator) -> None:
    generator.value = Answer("text", trace=(Step("thought"),))
    answer = ask(naive(SystemParts(Recorder(), as_system(generator))), Query("q?"))
    assert isinstance(answer, Answer)
    assert [step.kind for step in answer.trace] == ["retrieve", "thought", "generate"]
    for step in (answer.trace[0], answer.trace[-1]):
        seconds = step.detail["seconds"]
        assert isinstance(seconds, float)
        assert 0 <= seconds < 1


def test_supplied_passages_go_to_the_generator_without_a_search(generator: Generator) -> None:
    retriever = Recorder()
    query = Query("q?", (Passage("p", "given"),))
    assert ask(naive(SystemParts(retriever, as_system(generator))), query) == "text"
    assert generator.queries == [query]
    assert retriever.calls == []


def test_an_empty_tuple_of_passages_is_not_searched(generator: Generator) -> None:
    assert ask(naive(SystemParts(None, as_system(generator))), Query("q?", ())) == "text"


def test_neither_passages_nor_a_retriever_is_an_error_of_the_case(generator: Generator) -> None:
    with pytest.raises(CaseError, match=r"supplies no passages.*`rag_corpus` or `rag_retriever`") as caught:
        ask(naive(SystemParts(None, as_system(generator))), Query("q?"))
    assert caught.value.kind == "no_passages"
    assert generator.queries == []


def test_a_generator_may_rerank(generator: Generator) -> None:
    reranked = Ranking(RANKING.items[1:])
    generator.value = Answer("text", ranking=reranked)
    answer = ask(naive(SystemParts(Recorder(), as_system(generator))), Query("q?"))
    assert isinstance(answer, Answer)
    assert answer.ranking == reranked


def test_a_generator_that_returns_something_else_is_named(generator: Generator) -> None:
    generator.value = 3
    with pytest.raises(SystemContractError, match=r"rag_generator '.*Generator' returned int 3"):
        ask(naive(SystemParts(Recorder(), as_system(generator))), Query("q?"))


def test_a_retriever_that_returns_something_else_is_named(generator: Generator) -> None:
    class Listing:
        def search(self, query: str, k: int) -> list[str]:
            return [query] * k

    with pytest.raises(SystemContractError, match="rag_retriever 'Listing' returned a list; it must return a Ranking"):
        ask(naive(SystemParts(cast("Retriever", Listing()), as_system(generator))), Query("q?"))


def test_a_retriever_that_returns_a_generator_in_its_ranking_is_named(generator: Generator) -> None:
    class Lazy:
        def search(self, query: str, k: int) -> Ranking:
            return Ranking(cast("tuple[ScoredPassage, ...]", (ScoredPassage(query) for _ in range(k))))

    with pytest.raises(SystemContractError, match="rag_retriever 'Lazy' returned a Ranking that holds a generator"):
        ask(naive(SystemParts(cast("Retriever", Lazy()), as_system(generator))), Query("q?"))


class Threaded(Recorder):
    """A retriever that records the threads of its calls and the number of concurrent calls."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[int] = []
        self.now = self.most = 0

    def search(self, query: str, k: int) -> Ranking:
        self.now += 1
        self.most = max(self.most, self.now)
        self.threads.append(threading.get_ident())
        time.sleep(0.01)
        self.now -= 1
        return asyncio.run(self.search_async(query, k))  # fails if this thread runs an event loop

    async def search_async(self, query: str, k: int) -> Ranking:
        return super().search(query, k)


def test_with_an_async_generator_a_sync_search_has_one_thread() -> None:
    async def at_once() -> int:
        calls = [cast("Awaitable[Answer]", system(Query(f"q{number}?"))) for number in range(5)]
        answers = asyncio.gather(*calls)
        turns = 0
        while not answers.done():
            await asyncio.sleep(0.001)
            turns += 1
        assert [answer.ranking for answer in await answers] == [RANKING] * 5
        return turns

    retriever = Threaded()
    system = naive(SystemParts(retriever, as_system(AsyncGenerator())))
    assert asyncio.run(at_once()) > 5  # the event loop was free during the search
    assert sorted(retriever.calls) == [(f"q{number}?", 5) for number in range(5)]
    assert (len(set(retriever.threads)), retriever.most) == (1, 1)
    assert threading.get_ident() not in retriever.threads


def test_its_thread_ends_with_the_system() -> None:
    before = set(threading.enumerate())
    system = naive(SystemParts(Threaded(), as_system(AsyncGenerator())))
    ask(system, Query("q?"))
    (thread,) = set(threading.enumerate()) - before
    del system
    thread.join(5)
    assert not thread.is_alive()


def test_without_an_event_loop_a_search_is_called_in_place() -> None:
    retriever = Threaded()
    system = naive(SystemParts(retriever, as_system(AsyncGenerator())))
    answer = NoLoop().run(cast("Awaitable[Answer]", system(Query("q?"))))
    assert answer.ranking == RANKING
    assert retriever.threads == [threading.get_ident()]


def test_an_async_search_is_awaited() -> None:
    class Awaited:
        async def search(self, query: str, k: int) -> Ranking:
            await asyncio.sleep(0.01)
            return RANKING if (query, k) == ("q?", 5) else Ranking(())

    answer = ask(naive(SystemParts(cast("Retriever", Awaited()), as_system(AsyncGenerator()))), Query("q?"))
    assert isinstance(answer, Answer)
    assert answer.ranking == RANKING
    seconds = answer.trace[0].detail["seconds"]
    assert isinstance(seconds, float)
    assert seconds >= 0.009


def test_bm25_is_called_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(self: Bm25Retriever, query: str, k: int) -> Ranking:
        threads.append(threading.get_ident())
        return RANKING

    threads: list[int] = []
    monkeypatch.setattr(Bm25Retriever, "search", search)
    system = naive(SystemParts(bm25(RetrieverParts((Passage("a", "text"),))), as_system(AsyncGenerator())))
    ask(system, Query("q?"))
    assert threads == [threading.get_ident()]


def test_a_system_without_a_generator_is_an_error() -> None:
    with pytest.raises(SettingError, match="override the `rag_generator` fixture"):
        naive(SystemParts(Recorder()))


def test_the_named_system_extractive_retrieves_and_reads() -> None:
    corpus = [
        Passage("a", "The harbour ferry leaves from the east pier."),
        Passage("b", "The mountain railway was opened by Ida Holm."),
    ]
    build = Registry[SystemFactory]("system", BUILTIN).get("extractive")
    parts = SystemParts(bm25(RetrieverParts(tuple(corpus))), as_system(Generator("not asked")), top_k=1)
    answer = ask(build(parts), Query("Who opened the mountain railway?"))
    assert isinstance(answer, Answer)
    assert answer.text == corpus[1].text
    assert answer.abstained is False
    assert answer.ranking is not None
    assert answer.ranking.doc_ids == ("b",)
