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

MIN_SIMILARITY = 0.8
"""Smallest Jaccard similarity of the shingles of near duplicates."""

MIN_SHARED = 3
"""Number of rare shingles that `near_pairs` requires in both questions before it compares them."""

MIN_SHARED_OF_ALL = 8
"""The same number for `all_near_pairs`, which indexes more shingles per question, so fewer pairs are compared."""

MAX_POSTING, MAX_COMPARED = 200, 5
"""Maximum questions per shingle in the index, and maximum comparisons per question; they keep the time linear."""

QuestionKey = tuple[str, ...]

_NUMBER = re.compile(r"\d+")


def question_key(question: str, history: Sequence[Turn] = ()) -> QuestionKey:
    """Return the folded questions of a conversation, the current one last, without final punctuation."""
    questions = [*(turn.question for turn in history), question]
    return tuple(fold(each).rstrip("?!.。 ") for each in questions)


def near_pairs(questions: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the index of each near duplicate and the index of an earlier question that it resembles.

    Two questions are near duplicates if the Jaccard similarity of their shingles is at least 0.8 and their numbers are
    the same. A shingle is three characters, in Chinese two. Of the n shingles of a question, the n - ceil(0.8 n) + 3
    rarest are indexed: near duplicates have at least three of these in common (Wang et al., SIGMOD 2012, "Can we beat
    the prefix filtering?"). A question is compared with the first indexed questions that share most of these shingles.
    A near duplicate is not indexed itself. The limits of the comparison may miss a pair; see `all_near_pairs`.

    Args:
        questions: the folded questions, such as the last item of each `question_key`.
    """
    shingled = [_shingles(question) for question in questions]
    frequency = Counter(chain.from_iterable(shingled))
    index: dict[str, list[int]] = defaultdict(list)
    for number, shingles in enumerate(shingled):
        ranked = sorted(shingles, key=lambda shingle: (frequency[shingle], shingle))
        rarest = ranked[: len(ranked) - math.ceil(MIN_SIMILARITY * len(ranked)) + MIN_SHARED]
        overlaps = Counter(chain.from_iterable(index[shingle] for shingle in rarest))
        most = max(overlaps.values(), default=0)
        candidates = [other for other, count in overlaps.items() if count == most >= MIN_SHARED][:MAX_COMPARED]
        match = next((other for other in candidates if _alike(shingles, shingled[other])), None)
        if match is not None:
            yield number, match
            continue
        for shingle in rarest:
            if len(index[shingle]) < MAX_POSTING:
                index[shingle].append(number)


def all_near_pairs(questions: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs like `near_pairs`, but miss none: no two of the other questions are near duplicates.

    A question is compared with every indexed question that shares enough rare shingles. The time is not linear: 10,000
    questions with a small vocabulary take seconds.

    Args:
        questions: the folded questions, such as the last item of each `question_key`.
    """
    shingled = [_shingles(question) for question in questions]
    frequency = Counter(chain.from_iterable(shingled))
    in_order = sorted(frequency, key=lambda shingle: (frequency[shingle], shingle))
    rank = {shingle: at for at, shingle in enumerate(in_order)}
    index: dict[int, list[int]] = defaultdict(list)
    for number, shingles in enumerate(shingled):
        ranked = sorted(rank[shingle] for shingle in shingles)
        minimum = math.ceil(MIN_SIMILARITY * len(ranked))
        rarest = ranked[: len(ranked) - minimum + MIN_SHARED_OF_ALL]
        overlaps = Counter(chain.from_iterable(index[at] for at in rarest if at in index))
        candidates = (other for other, count in overlaps.items() if count >= min(minimum, MIN_SHARED_OF_ALL))
        match = next((other for other in candidates if _alike(shingles, shingled[other])), None)
        if match is not None:
            yield number, match
            continue
        for at in rarest:
            index[at].append(number)


def _shingles(question: str) -> frozenset[str]:
    """Return the shingles, each with the question's numbers, so questions with different numbers share none."""
    size = 2 if has_chinese(question) else 3
    numbers = " ".join(sorted(_NUMBER.findall(question)))
    return frozenset(f"{question[at : at + size]}|{numbers}" for at in range(max(len(question) - size + 1, 1)))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common >= MIN_SIMILARITY * (len(one) + len(other) - common)
