"""The hybrid retriever: rank fusion, settings, facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval import BUILTIN, RetrieverFactory
from pytest_rageval.retrieval.hybrid import HybridRetriever, build, fuse
from pytest_rageval.retrieval.retriever_parts import RetrieverParts

CORPUS = (Passage("d1", "the ferry leaves at noon"), Passage("d2", "a ferry"), Passage("d3", "the railway"))
RANKINGS = st.lists(
    st.lists(st.sampled_from("abcdefgh"), unique=True).map(lambda ids: ranking(*ids)), min_size=1, max_size=4
)


def ranking(*ids: str) -> Ranking:
    return Ranking(tuple(ScoredPassage(name, -float(at), f"text of {name}") for at, name in enumerate(ids)))


class Fixed:
    """Returns the same ranking for every query."""

    in_place = True

    def __init__(self, *ids: str, facts: Mapping[str, object] | None = None) -> None:
        self.ids = ids
        self.requests: list[tuple[str, int]] = []
        if facts is not None:
            self.facts = facts

    def search(self, query: str, k: int) -> Ranking:
        self.requests.append((query, k))
        return ranking(*self.ids[:k])


def parts(params: Mapping[str, object], **more: RetrieverFactory) -> RetrieverParts:
    registry: Registry[RetrieverFactory] = Registry("retriever", BUILTIN)
    for name, factory in more.items():
        registry.register(name, factory)
    return RetrieverParts(CORPUS, params, get=registry.get)


def test_a_passage_scores_the_sum_of_its_fused_ranks() -> None:
    items = fuse([ranking("a", "b", "c"), ranking("c", "a")], 60)
    assert [item.doc_id for item in items] == ["a", "c", "b"]
    assert [item.score for item in items] == pytest.approx([1 / 61 + 1 / 62, 1 / 61 + 1 / 63, 1 / 62])
    assert items[0].text == "text of a"


def test_ties_go_to_the_better_rank_and_then_to_the_id() -> None:
    assert [item.doc_id for item in fuse([ranking("z", "b"), ranking("a", "y")], 60)] == ["a", "z", "b", "y"]


@given(RANKINGS, st.floats(0, 100))
def test_scores_are_positive_and_at_most_the_sum_of_first_ranks(rankings: Sequence[Ranking], rrf_k: float) -> None:
    items = fuse(rankings, rrf_k)
    scores = [item.score or 0.0 for item in items]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= len(rankings) / (rrf_k + 1) * (1 + 1e-12) for score in scores)
    assert {item.doc_id for item in items} == {name for each in rankings for name in each.doc_ids}


@given(RANKINGS, st.randoms(use_true_random=False))
def test_the_order_of_the_retrievers_does_not_matter(rankings: Sequence[Ranking], chance: object) -> None:
    shuffled = list(rankings)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    results = [[(item.doc_id, item.score) for item in fuse(each, 60)] for each in (rankings, shuffled)]
    assert results[0] == results[1]


@given(RANKINGS)
def test_the_first_of_every_ranking_is_first(rankings: Sequence[Ranking]) -> None:
    with_first = [ranking("first", *each.doc_ids) for each in rankings]
    assert fuse(with_first, 60)[0].doc_id == "first"


def test_a_passage_with_text_wins_over_one_without() -> None:
    bare = Ranking((ScoredPassage("a", 1.0), ScoredPassage("a", 0.5)))
    (item,) = fuse([bare, ranking("a")], 60)
    assert item.text == "text of a"
    assert item.score == pytest.approx(2 / 61)


def test_each_retriever_is_asked_for_depth_or_more_passages() -> None:
    one, other = Fixed("a", "b"), Fixed("b")
    both = HybridRetriever({"one": one, "other": other}, depth=20)
    assert isinstance(both, Retriever)
    assert both.search("what", 1).doc_ids == ("b",)
    both.search("what", 50)
    assert one.requests == other.requests == [("what", 20), ("what", 50)]
    assert both.in_place is True


def test_an_invalid_query_is_refused() -> None:
    both = HybridRetriever({"one": Fixed("a")})
    with pytest.raises(CaseError, match="empty query"):
        both.search(" ", 3)
    with pytest.raises(SettingError, match="at least 1 passage"):
        both.search("what", 0)


def test_the_settings_of_each_retriever_begin_with_its_name() -> None:
    calls: list[RetrieverParts] = []

    def factory(inputs: RetrieverParts) -> Retriever:
        calls.append(inputs)
        return Fixed("d3", "d1")

    params = {"retrievers": ["bm25", "own"], "bm25.k1": 1.2, "own.depth": 3, "rrf_k": 10, "depth": 7}
    retriever = build(parts(params, own=factory))
    assert (calls[0].params, calls[0].passages) == ({"depth": 3}, CORPUS)
    assert retriever.search("railway", 3).doc_ids == ("d3", "d1")
    facts = retriever.facts  # type: ignore[attr-defined]
    assert (facts["retriever"], facts["retrievers"]) == ("hybrid", "bm25, own")
    assert (facts["rrf_k"], facts["depth"], facts["bm25.k1"], facts["bm25.retriever"]) == (10.0, 7, 1.2, "bm25")
    assert facts["build_s"] is None


def test_seconds_and_bytes_are_summed_if_all_are_known() -> None:
    one, other = Fixed(facts={"build_s": 1.5, "disk_bytes": 10}), Fixed(facts={"build_s": 0.5, "disk_bytes": None})
    facts = HybridRetriever({"one": one, "other": other}).facts
    assert (facts["build_s"], facts["disk_bytes"], facts["other.build_s"]) == (2.0, None, 0.5)


async def _search(query: str, k: int) -> Ranking:
    return Ranking()


def _async(inputs: RetrieverParts) -> Retriever:
    retriever = Fixed()
    retriever.search = _search  # type: ignore[assignment, method-assign]
    return retriever


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"retrievers": "bm25"}, "has retrievers = 'bm25'; write a list like "),
        ({"retrievers": ["bm25", "denze"]}, "unknown retriever 'denze'; did you mean 'dense'"),
        ({"retrievers": ["bm25"], "dense.model": "m"}, "has 'dense.model'; known: bm25"),
        ({"retrievers": ["bm25"], "k1": 2}, "has the unknown setting 'k1'"),
        ({"retrievers": ["bm25"], "bm25.k1": -1}, r"has k1 = -1; .* \(for bm25 in 'hybrid': .* begin with 'bm25.'"),
        ({"retrievers": ["bm25"], "rrf_k": -1}, "has rrf_k = -1; write a number of 0 or more"),
        ({"retrievers": ["slow"]}, "'slow' cannot be in 'hybrid': its search is async; use a sync one"),
        ({}, "the retriever 'dense' needs a model; .* begin with 'dense.'"),
    ],
)
def test_an_invalid_setting_is_refused(params: Mapping[str, object], problem: str) -> None:
    factory: Callable[[RetrieverParts], Retriever] = build
    with pytest.raises(SettingError, match=problem):
        factory(parts(params, slow=_async))
