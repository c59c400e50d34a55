"""Detect passages that contradict each other: equal sentences with one different fact."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.words import words

__all__ = ["Sentence", "contradict"]

COMPARED = 20
"""Number of best sentences to compare with each other."""

AGREEMENT = 2 / 3
"""Smallest share of the longer sentence's words that both sentences have in common at their start and end."""

LONGEST_FACT = 3
"""Largest number of words in the differing span."""

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: the position of its passage, its text, and one term per word."""

    passage: int
    text: str
    terms: list[str]


def contradict(sentences: Sequence[Sentence], question_terms: Collection[str], *, number: bool) -> bool:
    """Return whether two passages state the same sentence with different facts.

    Args:
        sentences: the sentences about the question, best first.
        question_terms: the terms of the question.
        number: whether the question asks for a number.

    Two sentences of different passages contradict each other if they differ in one span of at most ``LONGEST_FACT``
    words, the rest is at least ``AGREEMENT`` of the longer one, and the two spans are rival facts:

    - both have the right kind: a digit if the question asks for a number, else names, without a digit and with every
      word capitalised or Chinese;
    - neither contains a term of the question: "won in 2021" and "won in 2022" are then about different things;
    - they are not the same words in another order, and neither name is a part of the other.

    Contradictions in other words, and false facts on which all passages agree, are not detected.
    """
    pairs = combinations(sentences[:COMPARED], 2)
    return any(one.passage != other.passage and _rivals(one, other, question_terms, number) for one, other in pairs)


def _rivals(one: Sentence, other: Sentence, question_terms: Collection[str], number: bool) -> bool:
    start, end = _common_ends(one.terms, other.terms)
    here, there = slice(start, len(one.terms) - end), slice(start, len(other.terms) - end)
    mine, theirs = one.terms[here], other.terms[there]
    if not 1 <= len(mine) <= LONGEST_FACT or not 1 <= len(theirs) <= LONGEST_FACT:
        return False
    if start + end < AGREEMENT * max(len(one.terms), len(other.terms)) or sorted(mine) == sorted(theirs):
        return False
    if any(term in question_terms for term in (*mine, *theirs)):
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
    """Return how many items two sequences share at their start and, after that, at their end."""
    shorter = min(len(one), len(other))
    start = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
    return start, end
