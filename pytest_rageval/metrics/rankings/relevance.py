"""Relevance of passages by a testbed's rule: judged ids, gold passages, or answers."""

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
    "LEAST_OVERLAP",
    "LEAST_RUN",
    "NO_GOLD_PASSAGES",
    "UNKNOWN_RELEVANT",
    "by_evidence",
    "judgement_sets",
    "judgements",
    "overlap",
]

LEAST_OVERLAP = 0.5
"""Smallest share of the shorter text's words that must be in the other text in one run: half of a passage cut in two
is enough."""

LEAST_RUN = 5
"""Smallest length of that run in words (or the whole of a shorter gold passage): a single word of a heading is not
enough."""

NO_GOLD_PASSAGES = Score.not_applicable("no_gold_passages")
UNKNOWN_RELEVANT = Score.not_applicable("unknown_relevant")
"""The number of relevant passages is unknown, because only the retrieved ones were judged."""


def judgements(sample: Sample) -> tuple[Mapping[str, int], Ranking] | Score:
    """Return the grades of documents by id and the ranking that they judge, or why there are none.

    A case with evidence is judged by it instead of by ids: see `judgement_sets`.

    By "ids", the grades are the case's qrels. By "answers", a passage has grade 1 if its title or text contains an
    alias of any gold slot (see `matching.occurrences`); only the retrieved passages are judged.

    By "overlap", the relevant documents are the record's positive passages. Each matches one retrieved passage: the
    one with the longest overlap (`overlap`), the first of equals. That passage has grade 1; others that repeat it have
    grade 0. Gold passages that match the same passage count as one. A gold passage without a match counts as a missed
    relevant document.
    """
    case, ranking = sample.case, sample.answer.ranking
    missing = _missing(case)
    if missing is not None:
        return missing
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

    By "ids", a case with evidence has the grades of `evidence_ranks` for each alternative. Any other case has one set
    of judgements.
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
    """Return the length in words of the longest run that a text shares with a gold passage; 0 if they do not overlap.

    They overlap if the run is at least `LEAST_OVERLAP` of the shorter of the two, and at least `LEAST_RUN` words or the
    whole gold passage.
    """
    run = SequenceMatcher(None, text, gold, autojunk=False).find_longest_match().size
    least = max(LEAST_OVERLAP * min(len(text), len(gold)), min(LEAST_RUN, len(gold)))
    return run if 0 < least <= run else 0


def _missing(case: Case) -> Score | None:
    """Return why a case cannot be judged by its testbed's rule, or None."""
    if case.relevance == "ids":
        return None if case.qrels else NO_QRELS
    if case.relevance == "answers":
        return None if case.instance.gold else NO_GOLD
    return None if _positives(case.instance) else NO_GOLD_PASSAGES


def _positives(instance: Instance) -> list[str]:
    return [passage.text for passage in instance.passages or () if passage.role == "positive"]


def _by_answers(ranking: Ranking, instance: Instance) -> dict[str, int]:
    return {item.doc_id: int(any(slot_hits(instance.gold, item.title, item.text))) for item in ranking}


def _by_overlap(ranking: Ranking, instance: Instance) -> dict[str, int]:
    texts = {item.doc_id: item.text for item in by_rank(ranking)}
    grades = dict.fromkeys(texts, 0)
    for at, gold in enumerate(_positives(instance)):
        runs = {name: _run(text, gold) for name, text in texts.items()}
        grades[max(runs, key=runs.__getitem__) if any(runs.values()) else f"\0{at}"] = 1  # no document's id
    return grades


@lru_cache(maxsize=256)
def _run(text: str, gold: str) -> int:
    """Return the overlap of two texts, cached because several metrics of one answer need it."""
    return overlap(words(fold(text)), words(fold(gold)))
