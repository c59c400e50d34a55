"""Adapters for retrievers of other libraries and plain functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pytest_rageval.errors import SystemContractError
from pytest_rageval.model.case import Passage
from pytest_rageval.model.digests import content_id
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval import RetrieverFactory, RetrieverParts
from pytest_rageval.retrieval.adapt_results import ranking_of
from pytest_rageval.retrieval.adapt_retriever import adapted
from pytest_rageval.retrieval.hybrid import build as build_hybrid


def search(retriever: object, k: int = 3) -> Ranking:
    """Return the results of an adapted retriever, awaited if async."""
    result: Any = adapted(retriever).search("Where?", k)
    if not isinstance(result, Ranking):
        result = asyncio.run(await_value(result))
    assert isinstance(result, Ranking)
    return result


async def await_value(value: Awaitable[object]) -> object:
    return await value


class Ours:
    def search(self, query: str, k: int) -> Ranking:
        return Ranking((ScoredPassage("a"),))


def test_a_retriever_of_the_protocol_stays_as_it_is() -> None:
    ours = Ours()
    assert adapted(ours) is ours


def test_a_text_gets_an_id_from_its_content() -> None:
    ranking = search(lambda query: ["one", "two", "one"])
    assert ranking.doc_ids == (content_id("one"), content_id("two"))
    assert [item.text for item in ranking] == ["one", "two"]
    assert ranking[0].score is None


def test_pairs_keep_scores_that_fall() -> None:
    assert [item.score for item in search(lambda query: [("one", 0.9), ("two", 0.9), ("three", -1)])] == [0.9, 0.9, -1]


@pytest.mark.parametrize("scores", [(0.1, 0.9), (0.9, None)])
def test_scores_that_contradict_the_order_are_dropped(scores: tuple[float | None, ...]) -> None:
    ranking = search(lambda query: list(zip(("near", "far"), scores, strict=True)))
    assert [(item.text, item.score) for item in ranking] == [("near", None), ("far", None)]


def test_dicts_may_have_every_field() -> None:
    rows: list[object] = [
        {"id": 7, "text": "seven", "score": 2, "title": "T", "page": "p"},
        {"doc_id": "d", "page_content": "dee", "metadata": {"source": "s.md", "title": "S"}},
        {"_id": "x"},
    ]
    ranking = search(lambda query: rows)
    assert ranking.items == (
        ScoredPassage("7", None, "seven", "T", "p"),
        ScoredPassage("d", None, "dee", "S", "s.md"),
        ScoredPassage("x"),
    )


def test_our_passages_and_rankings_are_read() -> None:
    assert search(lambda query: (Passage("a", "A", "T", page="p") for _ in "1")).items == (
        ScoredPassage("a", None, "A", "T", "p"),
    )
    ranking = Ranking((ScoredPassage("a", 0.1), ScoredPassage("b", 0.2)))
    assert search(lambda query: ranking) == ranking
    assert search(lambda query: ranking, 1).doc_ids == ("a",)


def test_a_hybrid_retriever_accepts_plain_functions() -> None:
    factories: dict[str, RetrieverFactory] = {
        "two": lambda parts: cast("Retriever", lambda query: ["one", "two"]),
        "one": lambda parts: cast("Retriever", lambda query, k: [{"id": content_id("two"), "text": "two"}][:k]),
    }
    parts = RetrieverParts((), {"retrievers": ["two", "one"]}, get=factories.__getitem__)
    assert [item.text for item in build_hybrid(parts).search("Where?", 2)] == ["two", "one"]


def test_only_the_first_k_results_are_read() -> None:
    def one_too_many(query: str) -> Iterator[str]:
        yield from ("one", "one", "two")
        raise AssertionError("more than k results were read")

    assert len(search(one_too_many, 2)) == 2
    assert len(search(lambda query: [])) == 0


def test_another_text_under_an_id_is_a_part_of_that_document() -> None:
    rows = [{"id": "d", "text": "one"}, {"id": "d", "text": "one"}, {"id": "d", "text": "two"}]
    first, second = search(lambda query: rows)
    assert (first.doc_id, first.page_id) == ("d", "d")
    assert second.doc_id.startswith("d#")
    assert (second.text, second.page_id) == ("two", "d")


def with_count(query: str, count: int) -> list[str]:
    return [str(count)]


def with_top_k(query: str, threshold: float = 0.5, *, top_k: int = 10) -> list[str]:
    return [f"{threshold} {top_k}"]


def default_k(query: str, k: int = 10) -> list[str]:
    return [str(k)]


def without_k(query: str, threshold: float = 0.5) -> list[str]:
    return [str(threshold)]


@pytest.mark.parametrize(
    ("function", "expected"),
    [(with_count, "3"), (with_top_k, "0.5 3"), (default_k, "3"), (without_k, "0.5")],
)
def test_a_callable_receives_k_if_it_accepts_it(function: Callable[..., object], expected: str) -> None:
    assert search(function)[0].text == expected


def test_async_callables_are_awaited() -> None:
    async def find(query: str) -> list[str]:
        return [query]

    class Finder:
        async def __call__(self, query: str, k: int) -> list[str]:
            return [f"{query} {k}"]

    assert search(find)[0].text == "Where?"
    assert search(partial(find))[0].text == "Where?"
    assert search(Finder())[0].text == "Where? 3"


def test_a_library_is_recognised_by_its_methods() -> None:
    document = SimpleNamespace(page_content="text", metadata={"source": "s"}, id=None)
    node = SimpleNamespace(node_id="n", get_content=lambda: "node", metadata={}, ref_doc_id="r")
    langchain = SimpleNamespace(invoke=lambda query: [document])
    store = SimpleNamespace(similarity_search=lambda query, k: [document] * k, search=lambda query, search_type: 1 / 0)
    llama = SimpleNamespace(retrieve=lambda query: [SimpleNamespace(node=node, score=0.5)])
    expected = ScoredPassage(content_id("text"), None, "text", "", "s")
    assert search(langchain).items == search(store).items == (expected,)
    assert search(llama).items == (ScoredPassage("n", 0.5, "node", "", "r"),)


async def aretrieve(query: str) -> list[str]:
    return ["awaited"]


def test_an_async_only_retriever_is_awaited() -> None:
    assert search(SimpleNamespace(aretrieve=aretrieve))[0].text == "awaited"
    assert search(SimpleNamespace(ainvoke=aretrieve))[0].text == "awaited"
    assert search(SimpleNamespace(invoke=lambda query: ["called"], ainvoke=aretrieve))[0].text == "called"


@pytest.mark.parametrize("value", [3, "bm25", ["a"], SimpleNamespace(find=len)])
def test_a_non_retriever_is_refused(value: object) -> None:
    with pytest.raises(SystemContractError, match=r"rag_retriever gave \w+ .*; give an object with search\(query, k\)"):
        adapted(value)


def test_a_class_is_refused() -> None:
    with pytest.raises(SystemContractError, match=r"gave the class Ours; give an instance: Ours\(\)"):
        adapted(Ours)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "returned a NoneType; it must return texts"),
        ("text", "returned a str; it must return texts"),
        ({"a": 1.0}, "returned a dict; it must return texts"),
        ([3], "returned 3 at place 1; it must return texts"),
        (["a", ("b", "c")], r"returned \('b', 'c'\) at place 2"),
        ([("a", True)], r"returned \('a', True\) at place 1"),
        ([{"score": 1.0}], r"returned \{'score': 1.0\} at place 1"),
        ([{"id": "a", "score": "high"}], "returned .* at place 1"),
        ([ScoredPassage(cast("str", 1))], "returned at place 1 a passage with the doc_id 1; it must be a str"),
        (Ranking(cast("Any", iter(()))), "returned a Ranking that holds a tuple_iterator; write Ranking"),
    ],
)
def test_an_invalid_result_is_refused(value: object, problem: str) -> None:
    def find(query: str) -> object:
        return value

    with pytest.raises(SystemContractError, match=f"rag_retriever 'find' {problem}"):
        search(find)


def test_an_unawaited_coroutine_names_the_fix() -> None:
    with pytest.raises(SystemContractError, match=r"returned a coroutine; .*; declare it with async def"):
        search(lambda query: aretrieve(query))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("form", ["pair", "ranking", "dict"])
def test_an_infinite_score_is_reported_with_its_passage(form: str, score: float) -> None:
    passage = {"pair": ("a", score), "dict": {"id": "a", "score": score}, "ranking": ScoredPassage("a", score, "a")}
    name = content_id("a") if form == "pair" else "a"
    value: Any = [("b", 1.0), passage[form]]
    if form == "ranking":
        value = Ranking((ScoredPassage("b", 1.0, "b"), ScoredPassage("a", score, "a")))
    problem = f"rag_retriever 'mine' gave the passage '{name}' the score {score}; give a finite number, or None"
    with pytest.raises(SystemContractError) as caught:
        ranking_of(value, 2, "mine")
    assert str(caught.value) == problem
    assert len(ranking_of(value, 1, "mine")) == 1
