"""ROUGE with the values of rouge-chinese, on jieba's tokens for Chinese."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import Any

from pytest_rageval.metrics.answers.squad import best_score, is_chinese
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.words import cached_per_text, tokens

__all__ = ["ROUGE_1", "ROUGE_2", "ROUGE_L", "rouge_1", "rouge_2", "rouge_l"]

EPSILON = 1e-8
"""Added to the denominator, as rouge-chinese does; a perfect match is therefore 0.999999995."""


def rouge_1(sample: Sample) -> Score:
    """Score how many distinct tokens the answer shares with the nearest reference.

    Formula: max over the references of 2PR / (P + R + 1e-8); P and R are the shares of the answer's and of the
    reference's distinct tokens that are in both. References as in `squad.exact_match`. If the record is Chinese, or the
    answer or the reference has a Han character, both are cut into jieba's tokens, including punctuation; otherwise at
    white space. Nothing is normalised.
    Range: 0..1, higher is better. Empty input: an answer or a reference without tokens 0; no gold is not applicable.
    Source: Lin, 2004; the values of rouge-chinese 1.0.3, used by OmniEval (Wang et al., 2024).
    """
    return _best_score(sample, lambda answer, reference: _ngram_score(answer, reference, 1))


def rouge_2(sample: Sample) -> Score:
    """Score how many distinct pairs of neighbouring tokens the answer shares with the nearest reference.

    Formula: as `rouge_1`, over pairs of tokens.
    Range: 0..1, higher is better. Empty input: an answer or a reference of fewer than two tokens 0; no gold is not
    applicable.
    Source: as `rouge_1`.
    """
    return _best_score(sample, lambda answer, reference: _ngram_score(answer, reference, 2))


def rouge_l(sample: Sample) -> Score:
    """Score the longest sequence of tokens that the answer shares with the nearest reference, in order, with gaps.

    Formula: as `rouge_1`; P and R are the length of the longest common subsequence, divided by the number of all tokens
    of the answer and of the reference.
    Range: 0..1, higher is better. Empty input: an answer or a reference without tokens 0; no gold is not applicable.
    Source: as `rouge_1`.
    """
    return _best_score(sample, _lcs_score)


def _best_score(sample: Sample, score: Callable[[Sequence[str], Sequence[str]], float]) -> Score:
    chinese_sample = is_chinese(sample)

    def reference_score(answer: str, reference: str) -> float:
        chinese = chinese_sample or has_chinese(reference)
        answer_tokens, reference_tokens = _tokens_of(answer, chinese), _tokens_of(reference, chinese)
        return score(answer_tokens, reference_tokens) if answer_tokens and reference_tokens else 0.0

    return best_score(sample, reference_score)


@cached_per_text
def _tokens_of(text: str, chinese: bool) -> tuple[str, ...]:
    """Return the tokens of all sentences in order; a sentence of white space gives one empty token.

    For Chinese, jieba's tokens are joined with spaces before rouge-chinese splits the sentences.
    """
    sentences = _splitter().cut_sent(" ".join(tokens(text)) if chinese else text)
    return tuple(chain.from_iterable(sentence.split() or ("",) for sentence in sentences if sentence))


def _ngram_score(answer: Sequence[str], reference: Sequence[str], n: int) -> float:
    answer_ngrams, reference_ngrams = _ngrams(answer, n), _ngrams(reference, n)
    return _f1(len(answer_ngrams & reference_ngrams), len(answer_ngrams), len(reference_ngrams))


def _ngrams(words: Sequence[str], n: int) -> set[Any]:
    return set(words) if n == 1 else set(zip(*(words[at:] for at in range(n)), strict=False))


def _lcs_score(answer: Sequence[str], reference: Sequence[str]) -> float:
    from rapidfuzz import distance  # a submodule first would deadlock with a thread that imports rapidfuzz

    return _f1(distance.LCSseq.similarity(reference, answer), len(answer), len(reference))


def _f1(shared: int, of_answer: int, of_reference: int) -> float:
    """Return F1 from the number of shared units and the numbers of units in the answer and in the reference."""
    precision = shared / of_answer if of_answer else 0.0
    recall = shared / of_reference if of_reference else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + EPSILON))


@lru_cache(maxsize=1)
def _splitter() -> Any:
    return import_module("rouge_chinese").Rouge()


ROUGE_1 = Metric("rouge_1", rouge_1)
ROUGE_2 = Metric("rouge_2", rouge_2)
ROUGE_L = Metric("rouge_l", rouge_l)
