"""Measure how much of the evidence a system had, to tell retrieval faults from others."""

from __future__ import annotations

from pytest_rageval.errors import CaseError
from pytest_rageval.metrics.rankings.evidence_share import evidence_share
from pytest_rageval.metrics.rankings.pages import evidence_sets
from pytest_rageval.metrics.rankings.relevance import by_evidence, judgements
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

__all__ = ["evidence_of"]


def evidence_of(sample: Sample) -> float | None:
    """Return the share of the evidence that was retrieved or, without a ranking, supplied; None if unknown.

    Formula: for a ranking, the first rule that applies: with relevance by "answers", the share of the gold slots that
    its texts contain; with evidence, the share of the units that its passages hold (`evidence_share`); with provenance,
    the highest share of the pages of a set; else the share of the relevant documents. If that is unknown, for supplied
    passages: the share of the evidence units, else of the groups with a positive passage, else of the relevant qrels.
    Range: 0..1. Empty input: 0 for an empty ranking; None for a case without judgements.
    Source: ours; compare page-level recall of KILT (Petroni et al., NAACL 2021).
    """
    case, ranking = sample.case, sample.answer.ranking
    if case.instance.answerable is False:
        return None
    try:
        retrieved = None if ranking is None else _retrieved(sample, ranking)
    except CaseError:  # an invalid ranking; its metrics report the error
        return None
    return _supplied(case) if retrieved is None else retrieved


def _retrieved(sample: Sample, ranking: Ranking) -> float | None:
    case = sample.case
    if case.relevance == "answers":
        gold = case.instance.gold
        if not gold or not all(item.text for item in ranking):
            return None
        hits_by_slot = zip(*(slot_hits(gold, item.title, item.text) for item in ranking), strict=True)
        return sum(map(any, hits_by_slot)) / len(gold)
    if by_evidence(case):
        return _unit_share(sample)
    if case.instance.provenance:
        pages = {item.page_id for item in ranking}
        return max((len(each & pages) / len(each) for each in evidence_sets(case) if each), default=None)
    judged = judgements(sample)
    if isinstance(judged, Score):
        return None
    grades, _ = judged
    relevant = {name for name, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranking.doc_ids)) / len(relevant) if relevant else None


def _unit_share(sample: Sample) -> float | None:
    share = evidence_share(sample)
    return None if isinstance(share, Score) else share


def _supplied(case: Case) -> float | None:
    if case.supplied is None:
        return None
    if by_evidence(case):
        items = (ScoredPassage(p.id, None, p.text, p.title, p.page, p.span) for p in case.supplied)
        return _unit_share(Sample(case, Answer("", Ranking(tuple(items)))))
    pool = case.instance.passages or ()
    positive = {passage.group for passage in pool if passage.role == "positive"}
    if positive:
        supplied = {passage.group for passage in case.supplied if passage.role == "positive"}
        return len(positive & supplied) / len(positive)
    relevant = {name for name, grade in case.instance.qrels.items() if grade > 0}
    if relevant:
        return len(relevant.intersection(passage.id for passage in case.supplied)) / len(relevant)
    return 0.0 if any(passage.role for passage in pool) else None
