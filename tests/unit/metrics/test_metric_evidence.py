from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.metric_samples import slots
from support.samples.ranking_samples import ranking, retrieved

from pytest_rageval.metrics.rankings.evidence import evidence_of
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Passage, Relevance
from pytest_rageval.model.evidence import EvidencePlace, EvidenceUnit, LocatedEvidence
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

POOL = (
    Passage("p0", "Paris was founded by the Parisii tribe long ago.", role="positive", group=0),
    Passage("p1", "The tower was built in 1889 for a fair.", role="positive", group=1),
    Passage("n0", "Noise.", role="negative"),
)


def supplied(*passages: Passage, instance: Instance | None = None) -> Sample:
    record = instance or Instance("q1", "?", slots("Paris"), POOL)
    return Sample(Case("q1", record, passages, {}), Answer("Paris"))


def sample_of(*texts: str, relevance: Relevance, gold: tuple[tuple[str, ...], ...] = slots("Paris", "1889")) -> Sample:
    retrieved_passages = Ranking(tuple(ScoredPassage(f"d{at}", text=text) for at, text in enumerate(texts)))
    return Sample(
        Case("q1", Instance("q1", "?", gold, POOL), None, {}, relevance=relevance), Answer("?", retrieved_passages)
    )


@pytest.mark.parametrize(("names", "share"), [(("d1", "d2"), 1.0), (("d2", "x"), 0.5), (("x", "d3"), 0.0), ((), 0.0)])
def test_with_qrels_evidence_is_the_recall_of_relevant_documents(names: tuple[str, ...], share: float) -> None:
    assert evidence_of(retrieved(ranking(*names), {"d1": 1, "d2": 2, "d3": 0})) == share


def test_evidence_is_unknown_without_relevant_documents() -> None:
    assert evidence_of(retrieved(ranking("d1"), {"d1": 0})) is None
    assert evidence_of(retrieved(ranking("d1"))) is None


@pytest.mark.parametrize(
    ("names", "share"),
    [(("a#1", "b#4"), 1.0), (("a", "x"), 0.5), (("c", "a"), 1.0), (("x",), 0.0), ((), 0.0)],
)
def test_with_provenance_evidence_is_the_best_share_of_a_set_of_pages(names: tuple[str, ...], share: float) -> None:
    assert evidence_of(retrieved(ranking(*names), provenance=[("a", "b"), ("c",)])) == share


def test_with_relevance_by_answers_evidence_is_the_share_of_slots_in_all_passages() -> None:
    assert evidence_of(sample_of("In Paris.", "In 1889.", relevance="answers")) == 1.0
    assert evidence_of(sample_of("In Paris.", "In Paris.", relevance="answers")) == 0.5
    assert evidence_of(sample_of("Noise.", relevance="answers")) == 0.0
    assert evidence_of(sample_of(relevance="answers")) == 0.0


def test_with_relevance_by_answers_evidence_is_unknown_without_gold_or_texts() -> None:
    assert evidence_of(sample_of("In Paris.", relevance="answers", gold=())) is None
    assert evidence_of(sample_of("", relevance="answers")) is None


def test_with_relevance_by_overlap_evidence_is_the_share_of_retrieved_gold_passages() -> None:
    assert evidence_of(sample_of(POOL[0].text, POOL[1].text, relevance="overlap")) == 1.0
    assert evidence_of(sample_of(POOL[0].text, "Noise.", relevance="overlap")) == 0.5
    assert evidence_of(sample_of("Noise.", relevance="overlap")) == 0.0


@pytest.mark.parametrize(("passages", "share"), [(POOL, 1.0), (POOL[1:], 0.5), (POOL[2:], 0.0), ((), 0.0)])
def test_with_supplied_passages_evidence_is_the_share_of_groups_with_a_positive(
    passages: tuple[Passage, ...], share: float
) -> None:
    assert evidence_of(supplied(*passages)) == share


def test_with_supplied_passages_without_positives_evidence_is_the_share_by_qrels() -> None:
    pool = tuple(replace(passage, role="", group=None) for passage in POOL)
    with_qrels = Instance("q1", "?", slots("Paris"), pool, qrels={"p0": 1, "p1": 1, "n0": 0})
    assert evidence_of(supplied(*pool[1:], instance=with_qrels)) == 0.5
    assert evidence_of(supplied(*pool, instance=replace(with_qrels, qrels={}))) is None


def test_evidence_is_0_if_all_passages_are_noise() -> None:
    noise = Instance("q1", "?", slots("Paris"), POOL[2:])
    assert evidence_of(supplied(*POOL[2:], instance=noise)) == 0.0


def test_an_unknown_ranking_falls_back_to_supplied_passages() -> None:
    sample = supplied(*POOL)
    assert evidence_of(replace(sample, answer=Answer("Paris", ranking("x")))) == 1.0


def test_evidence_is_unknown_for_unanswerable_cases() -> None:
    assert evidence_of(supplied(*POOL, instance=Instance("q1", "?", (), POOL, answerable=False))) is None


def test_evidence_is_unknown_without_a_ranking_and_passages() -> None:
    assert evidence_of(retrieved(None, {"d1": 1})) is None


def test_evidence_is_unknown_for_a_ranking_with_duplicate_ids() -> None:
    sample = sample_of(POOL[0].text, POOL[1].text, relevance="overlap")
    duplicates = Ranking(tuple(replace(item, doc_id="d0") for item in sample.answer.ranking or ()))
    assert evidence_of(replace(sample, answer=Answer("?", duplicates))) is None


def evidence_of_chunks(*spans: tuple[int, int], gold: str = "in the hub", texts: bool = False) -> float | None:
    """Return the evidence share of chunks of `PAGE`, with their spans or with their texts only."""
    unit = EvidenceUnit("p.md", QUOTE)
    located = LocatedEvidence({unit: (EvidencePlace("p.md", (0, len(QUOTE)), QUOTE),)}, {}, lambda name: False)
    case = Case("q", Instance("q", "?", slots(gold), evidence=((unit,),)), None, {}, located=located)
    items = [
        ScoredPassage(f"p.md#{at}", text=PAGE[slice(*span)], page="p.md", span=None if texts else span)
        for at, span in enumerate(spans)
    ]
    return evidence_of(Sample(case, Answer("?", Ranking(tuple(items)))))


QUOTE = "Air pressure is measured in the hub"
PAGE = f"{QUOTE}, not in the outdoor sensor."
FIRST_CHUNK, SECOND_CHUNK = (0, 27), (27, len(PAGE))
"""Two chunks that separate the gold answer from the larger part of the quote."""


@pytest.mark.parametrize("texts", [False, True], ids=["spans", "texts"])
def test_the_larger_part_of_a_quote_without_the_answer_counts_half(texts: bool) -> None:
    assert evidence_of_chunks((0, len(PAGE)), texts=texts) == 1.0
    assert evidence_of_chunks(FIRST_CHUNK, texts=texts) == 0.5
    assert evidence_of_chunks(SECOND_CHUNK, texts=texts) == 0.0


def test_a_quote_counts_fully_if_its_parts_are_in_several_passages() -> None:
    assert evidence_of_chunks(FIRST_CHUNK, SECOND_CHUNK) == 1.0


def test_a_quote_that_does_not_state_the_answer_counts_without_it() -> None:
    assert evidence_of_chunks(FIRST_CHUNK, gold="indoors") == 1.0
