"""Judge the relevance of passages by a testbed's rule: ids, gold passages or answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.rankings.evidence_ranks import evidence_ranks
from pytest_rageval.metrics.rankings.ranked_passages import NO_QRELS, NO_RANKING, NO_TEXTS, STALE_LABELS, by_rank
from pytest_rageval.metrics.shared.matching import fold, slot_hits
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.words import words

__all__ = [
    "MIN_OVERLAP",
    "MIN_RUN",
    "NO_GOLD_PASSAGES",
    "UNKNOWN_RELEVANT",
    "by_evidence",
    "judgement_sets",
    "judgements",
    "overlap",
]

MIN_OVERLAP = 0.5
"""Smallest length of the shared run of words, as a share of the shorter text: one half of a cut passage is enough."""

MIN_RUN = 5
"""Smallest length of the shared run in words, unless the gold passage is shorter: one word of a heading is not
enough."""

NO_GOLD_PASSAGES = Score.not_applicable("no_gold_passages")
UNKNOWN_RELEVANT = Score.not_applicable("unknown_relevant")
"""The number of relevant passages is unknown, because only the retrieved ones were judged."""


def judgements(sample: Sample) -> tuple[Mapping[str, int], Ranking] | Score:
    """Return the grades of documents by id and the ranking that they judge, or why there are none.

    For a case with evidence, call `judgement_sets` instead.

    By "ids", the grades are the case's qrels. By "answers", a passage has grade 1 if its title or text contains an
    alias of any gold slot (see `matching.occurrences`); only the retrieved passages are judged.

    By "overlap", the relevant documents are the record's positive passages. Each one matches the retrieved passage with
    the longest overlap (`overlap`; the first of equals). Matched passages have grade 1; all other passages have grade
    0, even if they repeat a gold passage. Gold passages that match the same passage count as one document. A gold
    passage without a match counts as a relevant document that was not retrieved.
    """
    case, ranking = sample.case, sample.answer.ranking
    reason = _not_applicable(case)
    if reason is not None:
        return reason
    if ranking is None:
        return NO_RANKING
    if case.relevance == "ids":
        return STALE_LABELS if case.stale else (case.qrels, ranking)
    if not all(item.text for item in ranking):
        return NO_TEXTS
    judge = _by_answers if case.relevance == "answers" else _by_overlap
    return judge(ranking, case.instance), ranking


def judgement_sets(sample: Sample) -> tuple[Sequence[Mapping[str, int]], Ranking] | Score:
    """Return alternative judgements of a ranking, or why there are none; each metric takes its maximum over them.

    If evidence decides relevance (`by_evidence`), each alternative of it has its grades by `evidence_ranks`. Any other
    case has one set of judgements.
    """
    ranks = evidence_ranks(sample) if by_evidence(sample.case) else None
    if ranks is None:
        judged = judgements(sample)
        return judged if isinstance(judged, Score) else ((judged[0],), judged[1])
    ranking = sample.answer.ranking
    if isinstance(ranks, Score) or ranking is None:
        return NO_RANKING if isinstance(ranks, tuple) else ranks
    return [each.grades for each in ranks], ranking


def by_evidence(case: Case) -> bool:
    """Return whether evidence decides relevance: the record has evidence, and the testbed judges by ids."""
    return bool(case.instance.evidence) and case.relevance == "ids"


def overlap(text: Sequence[str], gold: Sequence[str]) -> int:
    """Return the length in words of the longest run that a text shares with a gold passage; 0 if it is too short.

    The run must be at least `MIN_OVERLAP` of the shorter text, and at least `MIN_RUN` words or the whole gold passage.
    """
    run = SequenceMatcher(None, text, gold, autojunk=False).find_longest_match().size
    minimum = max(MIN_OVERLAP * min(len(text), len(gold)), min(MIN_RUN, len(gold)))
    return run if 0 < minimum <= run else 0


def _not_applicable(case: Case) -> Score | None:
    """Return why a case cannot be judged by its testbed's rule, or None."""
    if case.relevance == "ids":
        return None if case.qrels else NO_QRELS
    if case.relevance == "answers":
        return None if case.instance.gold else NO_GOLD
    return None if _positives(case.instance) else NO_GOLD_PASSAGES


def _positives(instance: Instance) -> list[str]:
    """Return the texts of the positive passages of a record."""
    return [passage.text for passage in instance.passages or () if passage.role == "positive"]


def _by_answers(ranking: Ranking, instance: Instance) -> dict[str, int]:
    return {item.doc_id: int(any(slot_hits(instance.gold, item.title, item.text))) for item in ranking}


def _by_overlap(ranking: Ranking, instance: Instance) -> dict[str, int]:
    texts = {item.doc_id: item.text for item in by_rank(ranking)}
    grades = dict.fromkeys(texts, 0)
    for number, gold in enumerate(_positives(instance)):
        runs = {name: _run(text, gold) for name, text in texts.items()}
        grades[max(runs, key=runs.__getitem__) if any(runs.values()) else f"\0{number}"] = 1  # no real id begins so
    return grades


@lru_cache(maxsize=256)
def _run(text: str, gold: str) -> int:
    """Return the overlap of two texts, cached because several metrics of one answer need it."""
    return overlap(words(fold(text)), words(fold(gold)))
