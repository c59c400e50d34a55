"""ROUGE with the values of rouge-chinese, over jieba's tokens for Chinese."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import Any

from pytest_rageval.metrics.answers.squad import is_chinese, nearest
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.words import cached_per_text, tokens

__all__ = ["ROUGE_1", "ROUGE_2", "ROUGE_L", "rouge_1", "rouge_2", "rouge_l"]

EPSILON = 1e-8
"""Added to a denominator as in rouge-chinese; a perfect match is therefore 0.999999995."""


def rouge_1(sample: Sample) -> Score:
    """Score how many distinct tokens the answer shares with the nearest reference.

    Formula: max over the references of 2PR / (P + R + 1e-8); P and R are the shares of the answer's and of the
    reference's distinct tokens that are in both. References as in `squad.exact_match`. If the record is Chinese, or the
    answer or the reference has a Han character, both are cut into jieba's tokens, including punctuation; otherwise at
    white space. Nothing is normalised.
    Range: 0..1, higher is better. Empty input: an answer or a reference without tokens 0; no gold is not applicable.
    Source: Lin, 2004; the values of rouge-chinese 1.0.3, used by OmniEval (Wang et al., 2024).
    """
    return _nearest(sample, lambda answer, reference: _overlap(answer, reference, 1))


def rouge_2(sample: Sample) -> Score:
    """Score how many distinct pairs of neighbouring tokens the answer shares with the nearest reference.

    Formula: as `rouge_1`, over pairs of tokens.
    Range: 0..1, higher is better. Empty input: an answer or a reference of fewer than two tokens 0; no gold is not
    applicable.
    Source: as `rouge_1`.
    """
    return _nearest(sample, lambda answer, reference: _overlap(answer, reference, 2))


def rouge_l(sample: Sample) -> Score:
    """Score the longest sequence of tokens that the answer shares with the nearest reference, in order, with gaps.

    Formula: as `rouge_1`; P and R are the length of the longest common subsequence, divided by the number of all tokens
    of the answer and of the reference.
    Range: 0..1, higher is better. Empty input: an answer or a reference without tokens 0; no gold is not applicable.
    Source: as `rouge_1`.
    """
    return _nearest(sample, _longest)


def _nearest(sample: Sample, score: Callable[[Sequence[str], Sequence[str]], float]) -> Score:
    of_record = is_chinese(sample)

    def value(answer: str, reference: str) -> float:
        chinese = of_record or has_chinese(reference)
        ours, theirs = _tokens_of(answer, chinese), _tokens_of(reference, chinese)
        return score(ours, theirs) if ours and theirs else 0.0

    return nearest(sample, value)


@cached_per_text
def _tokens_of(text: str, chinese: bool) -> tuple[str, ...]:
    """Return the tokens of all sentences in order; a sentence of white space is an empty token.

    The sentences are those of rouge-chinese after jieba's tokens are joined with spaces.
    """
    sentences = _splitter().cut_sent(" ".join(tokens(text)) if chinese else text)
    return tuple(chain.from_iterable(sentence.split() or ("",) for sentence in sentences if sentence))


def _overlap(answer: Sequence[str], reference: Sequence[str], n: int) -> float:
    ours, theirs = _ngrams(answer, n), _ngrams(reference, n)
    return _f(len(ours & theirs), len(ours), len(theirs))


def _ngrams(words: Sequence[str], n: int) -> set[Any]:
    return set(words) if n == 1 else set(zip(*(words[at:] for at in range(n)), strict=False))


def _longest(answer: Sequence[str], reference: Sequence[str]) -> float:
    from rapidfuzz.distance.LCSseq import similarity

    return _f(similarity(reference, answer), len(answer), len(reference))


def _f(shared: int, ours: int, theirs: int) -> float:
    precision, recall = shared / ours if ours else 0.0, shared / theirs if theirs else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + EPSILON))


@lru_cache(maxsize=1)
def _splitter() -> Any:
    return import_module("rouge_chinese").Rouge()


ROUGE_1 = Metric("rouge_1", rouge_1)
ROUGE_2 = Metric("rouge_2", rouge_2)
ROUGE_L = Metric("rouge_l", rouge_l)
