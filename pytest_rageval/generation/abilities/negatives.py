"""Choose negative passages, which a retriever ranks high but which do not answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pytest_rageval.generation.abilities.gold_passages import gold_pages, holds_slot, is_matchable
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.ranking import Ranking, page_of

__all__ = ["DEPTH", "SHORT_POOL", "Negatives", "find_negatives"]

DEPTH = 50
"""How many passages of a ranking are candidates."""

SHORT_POOL = "short_pool"

_MIN_SHARED = 0.8
"""Minimum share of common shingles of near duplicates."""

_SHINGLE_LENGTH = 5
"""Length of a shingle in characters."""


@dataclass(frozen=True, slots=True)
class Negatives:
    """The negative passages of a record.

    Attributes:
        passages: the passages, best first; ``metadata`` of a retrieved one has its ``rank`` (from 1) and ``score``.
        excluded: ``gold_page``, ``holds_answer``, ``near_duplicate`` -> number of passages.
        reason: ``short_pool`` for fewer than wanted, ``no_gold`` if the gold cannot be matched in a text; else "".
    """

    passages: tuple[Passage, ...] = ()
    excluded: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


def find_negatives(instance: Instance, ranking: Ranking, positives: Sequence[Passage], count: int) -> Negatives:
    """Return negative passages of a record: first its own, then passages of the ranking.

    Excluded are passages of its gold pages, passages that state any slot of the gold (in any notation: 44bn is 44
    billion), and near duplicates, which share 80 % of their five-character shingles with a positive or an earlier
    negative. A record whose gold cannot be matched in a text (no gold, yes or no) gets no negatives.

    Args:
        instance: the record.
        ranking: the retriever's ranking for the record's question; the first 50 passages are candidates.
        positives: the passages that state the answer.
        count: the wanted number of negatives.
    """
    own_negatives = [replace(each, role="negative") for each in instance.passages or () if each.role == "negative"]
    if not is_matchable(instance.gold):
        return Negatives(reason="no_gold")
    pages = gold_pages(instance) | {name for each in positives for name in (each.id, each.page) if name}
    excluded: Counter[str] = Counter()
    negatives: list[Passage] = []
    for passage in (*own_negatives, *_candidates(ranking)):
        if len(negatives) >= count:
            break
        is_gold = passage not in own_negatives and not pages.isdisjoint((passage.id, passage.page, page_of(passage.id)))
        reason = "gold_page" if is_gold else _exclusion_reason(instance, passage, (*positives, *negatives))
        if reason:
            excluded[reason] += 1
        else:
            negatives.append(_with_free_id(passage, {each.id for each in (*positives, *negatives)}))
    return Negatives(tuple(negatives), dict(excluded), SHORT_POOL if len(negatives) < count else "")


def _candidates(ranking: Ranking) -> Iterator[Passage]:
    """Yield the first passages of a ranking as negatives, with rank and score."""
    for rank, each in enumerate(ranking.items[:DEPTH], 1):
        score = each.score if each.score is None else round(each.score, 4)  # the last digits differ between machines
        metadata = {"rank": rank, "score": score}
        yield Passage(each.doc_id, each.text, each.title, "negative", page=each.page, span=each.span, metadata=metadata)


def _exclusion_reason(instance: Instance, passage: Passage, others: Sequence[Passage]) -> str:
    """Return why a passage cannot be a negative; "" if it can."""
    if holds_slot(instance.gold, passage):
        return "holds_answer"
    if any(_is_near(passage.text, other.text) for other in others):
        return "near_duplicate"
    return ""


def _is_near(one: str, other: str) -> bool:
    """Return whether the shorter of two texts is nearly a part of the other."""
    shingles, other_shingles = _shingles(one), _shingles(other)
    return len(shingles & other_shingles) >= _MIN_SHARED * min(len(shingles), len(other_shingles))


@lru_cache(maxsize=1024)
def _shingles(text: str) -> frozenset[str]:
    folded = fold(text)
    return frozenset(folded[at : at + _SHINGLE_LENGTH] for at in range(max(1, len(folded) - _SHINGLE_LENGTH + 1)))


def _with_free_id(passage: Passage, used_ids: Collection[str]) -> Passage:
    """Return a passage with ``-2``, ``-3`` and so on after its id if the id is in use."""
    name, number = passage.id, 1
    while name in used_ids:
        number += 1
        name = f"{passage.id}-{number}"
    return passage if name == passage.id else replace(passage, id=name)
