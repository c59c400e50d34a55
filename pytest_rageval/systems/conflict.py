"""Detect passages that contradict each other: equal sentences with one different fact."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.words import words

__all__ = ["Sentence", "contradict"]

MAX_SENTENCES = 20
"""Maximum number of sentences to compare; the best ones are compared."""

AGREEMENT = 2 / 3
"""Smallest share of the longer sentence's words that both sentences share at their start and end."""

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

    - both have the right kind: if the question asks for a number, both contain a digit; otherwise both are names, which
      have no digit and only capitalised or Chinese words;
    - neither contains a term of the question. Otherwise, the sentences are about different things, such as "won in
      2021" and "won in 2022" for a question about 2021;
    - they are not the same words in another order, and neither name is a part of the other.

    Contradictions in other wordings, and false facts on which all passages agree, are not detected.
    """
    pairs = combinations(sentences[:MAX_SENTENCES], 2)
    return any(one.passage != other.passage and _rivals(one, other, question_terms, number) for one, other in pairs)


def _rivals(one: Sentence, other: Sentence, question_terms: Collection[str], number: bool) -> bool:
    start, end = _common_ends(one.terms, other.terms)
    one_slice, other_slice = slice(start, len(one.terms) - end), slice(start, len(other.terms) - end)
    one_span, other_span = one.terms[one_slice], other.terms[other_slice]
    if not 1 <= len(one_span) <= LONGEST_FACT or not 1 <= len(other_span) <= LONGEST_FACT:
        return False
    if start + end < AGREEMENT * max(len(one.terms), len(other.terms)) or sorted(one_span) == sorted(other_span):
        return False
    if any(term in question_terms for term in (*one_span, *other_span)):
        return False
    return _rival_facts(words(one.text)[one_slice], words(other.text)[other_slice], number)


def _rival_facts(one_span: Sequence[str], other_span: Sequence[str], number: bool) -> bool:
    one, other = "".join(one_span), "".join(other_span)
    if number:
        return bool(_DIGIT.search(one) and _DIGIT.search(other)) and one != other
    return _is_name(one_span) and _is_name(other_span) and one not in other and other not in one


def _is_name(span: Sequence[str]) -> bool:
    return all(word[0].isupper() or has_chinese(word) for word in span)


def _common_ends(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many items two sequences share at their start and, after that, at their end."""
    shorter = min(len(one), len(other))
    start = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    remaining = shorter - start
    end = next((i for i in range(remaining) if one[-1 - i] != other[-1 - i]), remaining)
    return start, end
