"""Exact match and token F1 with the normalisation of SQuAD, and jieba's tokens for Chinese."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from functools import lru_cache

from pytest_rageval.metrics.containment import NO_GOLD
from pytest_rageval.metrics.matching import fold_spaces
from pytest_rageval.model.case import Gold
from pytest_rageval.model.metric import Metric, Sample
from pytest_rageval.model.outcome import Score
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.unicode import nfkc
from pytest_rageval.text.words import words

__all__ = ["EXACT_MATCH", "TOKEN_F1", "exact_match", "f1", "normalize", "references", "token_f1"]

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


class _WithoutPunctuation(dict[int, int | None]):
    """A table for ``str.translate`` that drops punctuation and learns one character at a time."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        drop = character in string.punctuation or unicodedata.category(character).startswith("P")
        self[code] = None if drop else code
        return self[code]


_PUNCTUATION = _WithoutPunctuation()


@lru_cache(maxsize=8)
def normalize(text: str) -> str:
    """Return ``text`` as SQuAD compares it: lower case, no punctuation, no English articles, single spaces.

    NFKC comes first, and Unicode's punctuation (category P) goes with ASCII's; on ASCII it is SQuAD's script exactly.
    """
    bare = nfkc(text).lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())


def exact_match(sample: Sample) -> Score:
    """Score whether the answer equals a reference after SQuAD's normalisation.

    Formula: 1 when normalize(answer) equals normalize(reference) for any reference, spaces beside Han characters apart.
    One slot: each alias is a reference. Several slots: one reference, made of the alias of each slot that shares most
    tokens with the answer (the first of equals), in slot order, joined with a space.
    Range: 0 or 1, higher is better. Empty input: both normalise to nothing 1, one of them 0; no gold is not applicable.
    Source: SQuAD's evaluation script (Rajpurkar et al., 2016; 2018 for empty answers).
    """
    gold, answer = sample.case.instance.gold, sample.answer.text
    if not gold:
        return NO_GOLD
    said = fold_spaces(normalize(answer))
    return Score(float(any(said == fold_spaces(normalize(reference)) for reference in references(gold, answer))))


def token_f1(sample: Sample) -> Score:
    """Score the overlap of tokens between the answer and the nearest reference.

    Formula: max over the references of 2PR / (P + R), P and R the share of the answer's and of the reference's tokens
    that are in both, counted with multiplicity. References as in `exact_match`. Tokens are those between spaces after
    SQuAD's normalisation; when answer or reference has a Han character both are cut into jieba's words (after dropping
    the spaces beside Han characters), and never into characters.
    Range: 0..1, higher is better. Empty input: both without tokens 1, one of them 0; no gold is not applicable.
    Source: SQuAD's evaluation script (Rajpurkar et al., 2016; 2018 for empty answers).
    """
    gold, answer = sample.case.instance.gold, sample.answer.text
    if not gold:
        return NO_GOLD
    return Score(max((f1(answer, reference) for reference in references(gold, answer)), default=0.0))


def references(gold: Gold, answer: str) -> tuple[str, ...]:
    """Return the texts the answer is compared with."""
    if len(gold) == 1:
        return gold[0]
    nearest = (max(slot, key=lambda alias: _shared(*_bags(answer, alias)), default="") for slot in gold)
    return (" ".join(nearest),)


def f1(answer: str, reference: str) -> float:
    """Return the F1 of two texts' tokens."""
    ours, theirs = _bags(answer, reference)
    if not ours or not theirs:
        return float(not ours and not theirs)
    shared = _shared(ours, theirs)
    if not shared:
        return 0.0
    precision, recall = shared / ours.total(), shared / theirs.total()
    return 2 * precision * recall / (precision + recall)


def _bags(answer: str, reference: str) -> tuple[Counter[str], Counter[str]]:
    """Return both texts' tokens with their counts, cut the same way."""
    chinese = has_chinese(answer) or has_chinese(reference)
    return _bag(answer, chinese), _bag(reference, chinese)


@lru_cache(maxsize=8)
def _bag(text: str, chinese: bool) -> Counter[str]:
    """Return the tokens of ``text`` with their counts."""
    normal = normalize(text)
    return Counter(words(fold_spaces(normal)) if chinese else normal.split())


def _shared(one: Counter[str], other: Counter[str]) -> int:
    """Return how many tokens two bags share, with multiplicity."""
    return (one & other).total()


EXACT_MATCH = Metric("exact_match", exact_match, binary=True)
TOKEN_F1 = Metric("token_f1", token_f1)
