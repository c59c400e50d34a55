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


def test_it_is_unknown_without_relevant_documents() -> None:
    assert evidence_of(retrieved(ranking("d1"), {"d1": 0})) is None
    assert evidence_of(retrieved(ranking("d1"))) is None


@pytest.mark.parametrize(
    ("names", "share"),
    [(("a#1", "b#4"), 1.0), (("a", "x"), 0.5), (("c", "a"), 1.0), (("x",), 0.0), ((), 0.0)],
)
def test_of_provenance_it_is_that_of_the_set_that_is_nearest(names: tuple[str, ...], share: float) -> None:
    assert evidence_of(retrieved(ranking(*names), provenance=[("a", "b"), ("c",)])) == share


def test_of_answers_it_is_the_share_of_slots_that_the_passages_hold_together() -> None:
    assert evidence_of(sample_of("In Paris.", "In 1889.", relevance="answers")) == 1.0
    assert evidence_of(sample_of("In Paris.", "In Paris.", relevance="answers")) == 0.5
    assert evidence_of(sample_of("Noise.", relevance="answers")) == 0.0
    assert evidence_of(sample_of(relevance="answers")) == 0.0


def test_of_answers_without_gold_or_texts_it_is_unknown() -> None:
    assert evidence_of(sample_of("In Paris.", relevance="answers", gold=())) is None
    assert evidence_of(sample_of("", relevance="answers")) is None


def test_of_overlap_it_is_the_share_of_the_gold_passages_that_were_found() -> None:
    assert evidence_of(sample_of(POOL[0].text, POOL[1].text, relevance="overlap")) == 1.0
    assert evidence_of(sample_of(POOL[0].text, "Noise.", relevance="overlap")) == 0.5
    assert evidence_of(sample_of("Noise.", relevance="overlap")) == 0.0


@pytest.mark.parametrize(("passages", "share"), [(POOL, 1.0), (POOL[1:], 0.5), (POOL[2:], 0.0), ((), 0.0)])
def test_with_supplied_passages_evidence_is_the_share_of_groups_with_a_positive(
    passages: tuple[Passage, ...], share: float
) -> None:
    assert evidence_of(supplied(*passages)) == share


def test_of_supplied_passages_without_positives_it_is_that_of_the_judgements() -> None:
    pool = tuple(replace(passage, role="", group=None) for passage in POOL)
    judged = Instance("q1", "?", slots("Paris"), pool, qrels={"p0": 1, "p1": 1, "n0": 0})
    assert evidence_of(supplied(*pool[1:], instance=judged)) == 0.5
    assert evidence_of(supplied(*pool, instance=replace(judged, qrels={}))) is None


def test_a_pool_of_noise_has_no_evidence() -> None:
    noise = Instance("q1", "?", slots("Paris"), POOL[2:])
    assert evidence_of(supplied(*POOL[2:], instance=noise)) == 0.0


def test_an_unknown_ranking_falls_back_to_supplied_passages() -> None:
    sample = supplied(*POOL)
    assert evidence_of(replace(sample, answer=Answer("Paris", ranking("x")))) == 1.0


def test_unanswerable_cases_have_no_share() -> None:
    assert evidence_of(supplied(*POOL, instance=Instance("q1", "?", (), POOL, answerable=False))) is None


def test_without_ranking_and_passages_it_is_unknown() -> None:
    assert evidence_of(retrieved(None, {"d1": 1})) is None


def test_a_ranking_that_cannot_be_read_is_left_to_its_metrics() -> None:
    sample = sample_of(POOL[0].text, POOL[1].text, relevance="overlap")
    twice = Ranking(tuple(replace(item, doc_id="d0") for item in sample.answer.ranking or ()))
    assert evidence_of(replace(sample, answer=Answer("?", twice))) is None


def evidence_of_chunks(*spans: tuple[int, int], gold: str = "in the hub", texts: bool = False) -> float | None:
    """Return the share of the evidence in chunks of `PAGE`, by their spans or by their texts alone."""
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
CUT, REST = (0, 27), (27, len(PAGE))
"""A border of chunks cuts the gold answer from the larger part of the quote."""


@pytest.mark.parametrize("texts", [False, True], ids=["spans", "texts"])
def test_a_quote_that_is_cut_from_its_answer_is_half_of_the_evidence(texts: bool) -> None:
    assert evidence_of_chunks((0, len(PAGE)), texts=texts) == 1.0
    assert evidence_of_chunks(CUT, texts=texts) == 0.5
    assert evidence_of_chunks(REST, texts=texts) == 0.0


def test_a_quote_is_whole_if_its_passages_hold_all_of_it() -> None:
    assert evidence_of_chunks(CUT, REST) == 1.0


def test_an_answer_that_its_quote_does_not_state_is_not_searched_for() -> None:
    assert evidence_of_chunks(CUT, gold="indoors") == 1.0
