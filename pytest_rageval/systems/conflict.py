"""When two passages contradict each other: the same sentence, but for one fact."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.words import words

__all__ = ["Sentence", "contradict"]

COMPARED = 20
"""Sentences compared with each other: the best ones."""

AGREEMENT = 2 / 3
"""The share of the longer sentence's words that the two must have in common, at their beginnings and ends."""

LONGEST_FACT = 3
"""Words in the one span in which they may differ."""

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: the position of its passage, its text, and its terms, one for each of its words."""

    passage: int
    text: str
    terms: list[str]


def contradict(sentences: Sequence[Sentence], asked: Collection[str], *, number: bool) -> bool:
    """Return whether two passages tell the same sentence with different facts.

    Args:
        sentences: those that speak of the question, best first.
        asked: the question's terms.
        number: the question wants a number.

    Two sentences of different passages contradict each other when one span of at most ``LONGEST_FACT`` words
    differs, the rest is at least ``AGREEMENT`` of the longer one, and the two spans are rival facts:

    - both are of the kind asked for: with a digit where a number is wanted, else names, without a digit and with
      every word capitalised or Chinese;
    - no term of the question is in either: "won in 2021" and "won in 2022" are then about different things;
    - they are not the same words in another order, and one name is not a part of the other.

    Passages that contradict each other in other words, or all tell the same untruth, are not found.
    """
    pairs = combinations(sentences[:COMPARED], 2)
    return any(one.passage != other.passage and _rivals(one, other, asked, number) for one, other in pairs)


def _rivals(one: Sentence, other: Sentence, asked: Collection[str], number: bool) -> bool:
    start, end = _common_ends(one.terms, other.terms)
    here, there = slice(start, len(one.terms) - end), slice(start, len(other.terms) - end)
    mine, theirs = one.terms[here], other.terms[there]
    if not 1 <= len(mine) <= LONGEST_FACT or not 1 <= len(theirs) <= LONGEST_FACT:
        return False
    if start + end < AGREEMENT * max(len(one.terms), len(other.terms)) or sorted(mine) == sorted(theirs):
        return False
    if any(term in asked for term in (*mine, *theirs)):
        return False
    return _rival_facts(words(one.text)[here], words(other.text)[there], number)


def _rival_facts(mine: Sequence[str], theirs: Sequence[str], number: bool) -> bool:
    one, other = "".join(mine), "".join(theirs)
    if number:
        return bool(_DIGIT.search(one) and _DIGIT.search(other)) and one != other
    return _is_name(mine) and _is_name(theirs) and one not in other and other not in one


def _is_name(span: Sequence[str]) -> bool:
    return all(word[0].isupper() or has_chinese(word) for word in span)


def _common_ends(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many items two sequences share at their beginnings, and then at their ends."""
    shorter = min(len(one), len(other))
    start = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
    return start, end
