"""What makes a retrieved passage relevant, as a testbed declares it: judged ids, gold passages, or answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.rankings.evidence_ranks import evidence_ranks
from pytest_rageval.metrics.rankings.retrieved import NO_QRELS, NO_RANKING, NO_TEXTS, STALE_LABELS, by_rank
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
"""The share of the shorter text's words that has to stand in the other in one run: of a passage cut in two, a half."""

LEAST_RUN = 5
"""How many words that run has at least, lest a heading overlap all that has a word of it; a shorter gold passage's all.
"""

NO_GOLD_PASSAGES = Score.not_applicable("no_gold_passages")
UNKNOWN_RELEVANT = Score.not_applicable("unknown_relevant")
"""How many passages are relevant is not known, as only what was retrieved was judged."""


def judgements(sample: Sample) -> tuple[Mapping[str, int], Ranking] | Score:
    """Return the grades of documents by id, and the ranking that they judge; or the reason why there are none.

    A case with evidence is judged by it instead of by ids: see `judgement_sets`.

    By "ids", the grades are the case's qrels. By "answers", a passage has grade 1 whose title or text contains an alias
    of any gold slot (`matching.occurrences` is the rule); all that was retrieved is judged, and nothing else.

    By "overlap", the relevant documents are the record's positive passages. Each is found once, by the passage that
    overlaps it longest (`overlap`), the first of several; that passage has grade 1, and what only repeats it grade 0.
    Gold passages that one passage finds are found as one. Each that is not found is a relevant document that was
    missed.
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
    """Return alternative judgements of a ranking, of which each metric takes its maximum; or why there are none.

    By "ids", a case with evidence has the grades of `evidence_ranks` for each alternative. Any other has one set of
    judgements.
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
    """Return whether evidence decides what is relevant: the record has some, and the testbed judges by ids."""
    return bool(case.instance.evidence) and case.relevance == "ids"


def overlap(text: Sequence[str], gold: Sequence[str]) -> int:
    """Return how many words the longest run has that a text shares with a gold passage; 0 where they do not overlap.

    They do where it is `LEAST_OVERLAP` of the shorter of the two or more, and `LEAST_RUN` words or the whole gold.
    """
    run = SequenceMatcher(None, text, gold, autojunk=False).find_longest_match().size
    least = max(LEAST_OVERLAP * min(len(text), len(gold)), min(LEAST_RUN, len(gold)))
    return run if 0 < least <= run else 0


def _missing(case: Case) -> Score | None:
    """Return what keeps a case from being judged as its testbed declares it, or None."""
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
    said = {item.doc_id: item.text for item in by_rank(ranking)}
    grades = dict.fromkeys(said, 0)
    for at, gold in enumerate(_positives(instance)):
        runs = {name: _run(text, gold) for name, text in said.items()}
        grades[max(runs, key=runs.__getitem__) if any(runs.values()) else f"\0{at}"] = 1  # no document's id
    return grades


@lru_cache(maxsize=256)
def _run(text: str, gold: str) -> int:
    """Return the overlap of two texts: several metrics of one answer ask for the same ones."""
    return overlap(words(fold(text)), words(fold(gold)))
