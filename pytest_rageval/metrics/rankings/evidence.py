"""How much of the evidence for the gold answer a system had before it: what tells retrieval's faults from others."""

from __future__ import annotations

from pytest_rageval.errors import CaseError
from pytest_rageval.metrics.rankings.evidence_ranks import evidence_ranks
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
    """Return the share of the evidence that was retrieved or, where nothing was, supplied; None where it is unknown.

    Formula: of a ranking the share of the relevant documents in it, as the testbed declares relevance; by "answers" the
    share of the gold slots that it contains; where a record has evidence the share of its units that the passages hold
    (`evidence_ranks`; of alternatives the greatest); where it has provenance, of the set that it holds most of.
    Where that tells nothing, of supplied passages the share of the units of the evidence, else of the groups with a
    positive one, else of the relevant qrels among them.
    Range: 0..1. Empty input: an empty ranking has none of the evidence; a case that nothing is judged of has no share.
    Source: ours; compare page-level recall of KILT (Petroni et al., NAACL 2021).
    """
    case, ranking = sample.case, sample.answer.ranking
    if case.instance.answerable is False:
        return None
    try:
        retrieved = None if ranking is None else _retrieved(sample, ranking)
    except CaseError:  # a ranking that cannot be read, of which its metrics tell
        return None
    return _supplied(case) if retrieved is None else retrieved


def _retrieved(sample: Sample, ranking: Ranking) -> float | None:
    case = sample.case
    if case.relevance == "answers":
        gold = case.instance.gold
        if not gold or not all(item.text for item in ranking):
            return None
        held = zip(*(slot_hits(gold, item.title, item.text) for item in ranking), strict=True)
        return sum(map(any, held)) / len(gold)
    if by_evidence(case):
        return _units(sample)
    if case.instance.provenance:
        pages = {item.page_id for item in ranking}
        return max((len(each & pages) / len(each) for each in evidence_sets(case) if each), default=None)
    told = judgements(sample)
    if isinstance(told, Score):
        return None
    grades, _ = told
    relevant = {name for name, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranking.doc_ids)) / len(relevant) if relevant else None


def _units(sample: Sample) -> float | None:
    ranks = evidence_ranks(sample)
    return None if isinstance(ranks, Score) else max(each.recall() for each in ranks)


def _supplied(case: Case) -> float | None:
    if case.supplied is None:
        return None
    if by_evidence(case):
        items = (ScoredPassage(p.id, None, p.text, p.title, p.page, p.span) for p in case.supplied)
        return _units(Sample(case, Answer("", Ranking(tuple(items)))))
    pool = case.instance.passages or ()
    wanted = {passage.group for passage in pool if passage.role == "positive"}
    if wanted:
        there = {passage.group for passage in case.supplied if passage.role == "positive"}
        return len(wanted & there) / len(wanted)
    relevant = {name for name, grade in case.instance.qrels.items() if grade > 0}
    if relevant:
        return len(relevant.intersection(passage.id for passage in case.supplied)) / len(relevant)
    return 0.0 if any(passage.role for passage in pool) else None
