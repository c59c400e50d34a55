"""What makes a retrieved passage relevant, as a testbed declares it: judged ids, gold passages, or answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from pytest_rageval.metrics.containment import NO_GOLD
from pytest_rageval.metrics.matching import fold, slot_hits
from pytest_rageval.metrics.retrieved import NO_QRELS, NO_RANKING, NO_TEXTS, by_rank
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.metric import Sample
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.text.words import words

__all__ = ["LEAST_OVERLAP", "NO_GOLD_PASSAGES", "UNKNOWN_RELEVANT", "judgements", "overlaps"]

LEAST_OVERLAP = 0.5
"""The share of the shorter text's words that has to stand in the other in one run: of a passage cut in two, a half."""

NO_GOLD_PASSAGES = Score.not_applicable("no_gold_passages")
UNKNOWN_RELEVANT = Score.not_applicable("unknown_relevant")
"""How many passages are relevant is not known, as only what was retrieved was judged."""


def judgements(sample: Sample) -> tuple[Mapping[str, int], Ranking] | Score:
    """Return the grades of documents by id, and the ranking that they judge; or the reason why there are none.

    By "ids", the grades are the case's qrels. By "answers", a passage has grade 1 whose title or text contains an alias
    of any gold slot (`matching.occurrences` is the rule); all that was retrieved is judged, and nothing else.

    By "overlap", the relevant documents are the record's positive passages. Down the ranking, a passage has grade 1
    when it overlaps (`overlaps`) a gold passage that none before it did, so that each is found once; what repeats it
    has grade 0. Gold passages that one passage is the first to overlap are found as one. Each that is not found is a
    relevant document that was missed.
    """
    case, ranking = sample.case, sample.answer.ranking
    missing = _missing(case)
    if missing is not None:
        return missing
    if ranking is None:
        return NO_RANKING
    if case.relevance == "ids":
        return case.qrels, ranking
    if not all(item.text for item in ranking):
        return NO_TEXTS
    judge = _by_answers if case.relevance == "answers" else _by_overlap
    return judge(ranking, case.instance), ranking


def overlaps(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the longest run of words that two texts share is `LEAST_OVERLAP` of the shorter one, or more."""
    shorter = min(len(one), len(other))
    run = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return 0 < LEAST_OVERLAP * shorter <= run.size


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
    return {item.doc_id: int(any(slot_hits(instance.gold, f"{item.title}\n{item.text}"))) for item in ranking}


def _by_overlap(ranking: Ranking, instance: Instance) -> dict[str, int]:
    missed = {f"\0{at}": words(fold(text)) for at, text in enumerate(_positives(instance))}  # no document's ids
    grades = {}
    for item in by_rank(ranking):
        said = words(fold(item.text))
        found = [name for name, gold in missed.items() if overlaps(said, gold)]
        for name in found:
            del missed[name]
        grades[item.doc_id] = int(bool(found))
    return grades | dict.fromkeys(missed, 1)
