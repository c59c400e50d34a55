"""Find duplicate and nearly duplicate questions, in linear time."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.case import Turn
from pytest_rageval.text.language import has_chinese

__all__ = ["QuestionKey", "all_near_pairs", "near_pairs", "question_key"]

NEAR = 0.8
"""Smallest Jaccard similarity of the shingles of near duplicates."""

SHARED = 3
"""Number of rare shingles that two questions must have in common to be compared."""

MANY = 8
"""The same if none may be missed: more shared shingles leave fewer questions to compare."""

LONGEST_POSTING, COMPARED = 200, 5
"""Limits of questions per shingle and of compared questions (those that share most); they keep the time linear."""

QuestionKey = tuple[str, ...]

_NUMBER = re.compile(r"\d+")


def question_key(question: str, history: Sequence[Turn] = ()) -> QuestionKey:
    """Return the folded questions of a conversation up to this one, without final punctuation."""
    questions = [*(turn.question for turn in history), question]
    return tuple(fold(each).rstrip("?!.。 ") for each in questions)


def near_pairs(questions: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the place of each near duplicate and that of the earlier question it resembles.

    Two questions are near duplicates if they have at least 0.8 of their shingles (Jaccard) and all of their numbers in
    common. A shingle is three characters, two in Chinese. For two such questions, the n - ceil(0.8 n) + 3 rarest of
    each one's n shingles have three in common (Wang et al., SIGMOD 2012, "Can we beat the prefix filtering?"). These
    shingles index the questions; a question is compared with the first ones that share most of them. A near duplicate
    is not indexed itself.

    Args:
        questions: folded, as the last of `question_key`.
    """
    shingled = [_shingles(question) for question in questions]
    frequency = Counter(chain.from_iterable(shingled))
    index: dict[str, list[int]] = defaultdict(list)
    for number, shingles in enumerate(shingled):
        ranked = sorted(shingles, key=lambda shingle: (frequency[shingle], shingle))
        rarest = ranked[: len(ranked) - math.ceil(NEAR * len(ranked)) + SHARED]
        overlaps = Counter(chain.from_iterable(index[shingle] for shingle in rarest))
        most = max(overlaps.values(), default=0)
        candidates = [other for other, count in overlaps.items() if count == most >= SHARED][:COMPARED]
        match = next((other for other in candidates if _alike(shingles, shingled[other])), None)
        if match is not None:
            yield number, match
            continue
        for shingle in rarest:
            if len(index[shingle]) < LONGEST_POSTING:
                index[shingle].append(number)


def all_near_pairs(questions: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield what `near_pairs` defines, and miss none: of the other questions, no two are near duplicates.

    Every question that shares enough is compared, so the time is not linear: 10,000 questions made of few words take
    seconds. With eight rarest shingles in common, few are compared in vain.

    Args:
        questions: folded, as the last of `question_key`.
    """
    shingled = [_shingles(question) for question in questions]
    frequency = Counter(chain.from_iterable(shingled))
    in_order = sorted(frequency, key=lambda shingle: (frequency[shingle], shingle))
    rank = {shingle: at for at, shingle in enumerate(in_order)}
    index: dict[int, list[int]] = defaultdict(list)
    for number, shingles in enumerate(shingled):
        ranked = sorted(rank[shingle] for shingle in shingles)
        wanted = math.ceil(NEAR * len(ranked))
        rarest = ranked[: len(ranked) - wanted + MANY]
        overlaps = Counter(chain.from_iterable(index[at] for at in rarest if at in index))
        candidates = (other for other, count in overlaps.items() if count >= min(wanted, MANY))
        match = next((other for other in candidates if _alike(shingles, shingled[other])), None)
        if match is not None:
            yield number, match
            continue
        for at in rarest:
            index[at].append(number)


def _shingles(question: str) -> frozenset[str]:
    """Return the shingles, each with the question's numbers; questions with other numbers then share none."""
    size = 2 if has_chinese(question) else 3
    numbers = " ".join(sorted(_NUMBER.findall(question)))
    return frozenset(f"{question[at : at + size]}|{numbers}" for at in range(max(len(question) - size + 1, 1)))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common >= NEAR * (len(one) + len(other) - common)
