from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.samples.metric_samples import value
from support.samples.ranking_samples import ranking, retrieved

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.metrics.rankings.pages import PAGE_RPREC, evidence_sets
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.ranking import Ranking, ScoredPassage, page_of

METRICS = Catalog().metrics
NAMES = ["page_Rprec", "page_P@5", "page_R@5", "page_Success@5"]

HOPS = [["1", "2"], ["5"], ["7", "9", "11"]]
PAGES = ["2", "5", "7", "33", "1", "9", "44", "88"]  # {5} is complete at rank 2, {1, 2} at rank 5


def values(pages: Sequence[str], provenance: Sequence[Sequence[str]], *names: str) -> list[float | str | None]:
    ranking_sample = retrieved(ranking(*pages), provenance=provenance)
    return [value(METRICS.get(name), ranking_sample) for name in names]


def test_an_evidence_set_becomes_one_entry_at_the_rank_of_its_last_page() -> None:
    """The entries are {5}, 7, 33, {1, 2}, ...; page 9 moves the incomplete {7, 9, 11}: {5}, 33, {1, 2}, 9, 44, 88."""
    names = ["page_P@1", "page_P@2", "page_P@3", "page_R@2", "page_R@3", "page_Success@1"]
    assert values(PAGES, HOPS, *names) == [1.0, 0.5, 2 / 3, 1 / 3, 2 / 3, 1.0]
    assert values(PAGES, HOPS, "page_Rprec") == [0.5]


def test_one_page_of_a_set_of_two_counts_half_in_r_precision_and_0_in_recall() -> None:
    names = ["page_Rprec", "page_R@5", "page_P@5", "page_Success@5"]
    assert values(["1", "3"], [["1", "2"]], *names) == [0.5, 0.0, 0.0, 0.0]
    assert values(["1", "2"], [["1", "2"]], *names) == [1.0, 1.0, 0.2, 1.0]


def test_a_page_in_two_sets_makes_two_entries() -> None:
    assert values(["1"], [["1"], ["1", "2"]], "page_P@1", "page_P@2", "page_R@2") == [1.0, 0.5, 0.5]


def test_duplicate_sets_count_once() -> None:
    assert values(["1"], [["1", "1"], ["1"]], "page_Rprec", "page_R@1") == [1.0, 1.0]


def test_a_page_has_the_rank_of_its_first_passage() -> None:
    names = ["page_Rprec", "page_R@2"]
    assert values(["b#3", "b#1", "a#7"], [["a", "b"]], *names) == [1.0, 1.0]
    assert values(["b#3", "b#1", "c#2", "a#7"], [["a"]], *names) == [0.0, 0.0]


def test_a_page_comes_from_its_field_or_from_the_id() -> None:
    assert [page_of(name) for name in ("a#7", "a", "a#b", "C#", "a#1#2", "#1")] == ["a", "a", "a#b", "C#", "a#1", "#1"]
    assert (ScoredPassage("a#7").page_id, ScoredPassage("a#7", page="z").page_id) == ("a", "z")
    with_pages = Ranking((ScoredPassage("17", page="a"), ScoredPassage("18", page="a"), ScoredPassage("19", page="b")))
    assert value(PAGE_RPREC, retrieved(with_pages, provenance=[["a", "b"]])) == 1.0


def test_pages_are_ranked_by_the_scores_of_their_passages() -> None:
    ranking_sample = retrieved(ranking(("b", 0.5), ("a", 0.9)), provenance=[["a"]])
    assert value(PAGE_RPREC, ranking_sample) == 1.0


def test_the_pages_of_relevant_qrels_form_one_set() -> None:
    instance = Instance("q", "?", qrels={"a#1": 1, "a#2": 2, "b#1": 1, "c#1": 0})
    assert evidence_sets(Case("q", instance, None, {})) == (frozenset("ab"),)
    ranking_sample = retrieved(ranking("a#9", "b#9"), instance.qrels)
    assert [value(METRICS.get(name), ranking_sample) for name in NAMES] == [1.0, 0.2, 1.0, 1.0]


@pytest.mark.parametrize("name", NAMES)
def test_cases_without_provenance_or_ranking_are_unscored_and_rankings_without_hits_score_0(name: str) -> None:
    metric = METRICS.get(name)
    assert value(metric, retrieved(ranking("a"))) == "not_applicable: no_provenance"
    assert value(metric, retrieved(None, provenance=[["a"]])) == "no_ranking"
    assert value(metric, retrieved(ranking(), provenance=[["a"]])) == 0.0
    assert value(metric, retrieved(ranking("a"), {"a": 0})) == 0.0
    assert value(metric, retrieved(ranking("a"), provenance=[[]])) == 0.0
    with pytest.raises(CaseError, match="has the document 'a' at ranks 1 and 2"):
        metric.compute(retrieved(ranking("a", "a"), provenance=[["a"]]))


def test_a_set_without_pages_counts_in_the_denominator() -> None:
    assert values(["1"], [["1"], []], "page_Rprec", "page_R@5") == [1.0, 0.5]


@pytest.mark.parametrize("name", ["page_R", "page_P@0", "page_Success@x"])
def test_an_invalid_cutoff_gives_one_sentence(name: str) -> None:
    with pytest.raises(SettingError, match=f"^metric '{name}' has no valid cutoff; write page_"):
        METRICS.get(name)
