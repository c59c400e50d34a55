"""Positional token match: tokens that answer and reference have at the same position."""

from __future__ import annotations

import re

from pytest_rageval.metrics.answers.squad import best_score, is_chinese
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.words import cached_per_text, tokens

__all__ = ["POSITIONAL_TOKEN_MATCH", "positional_token_match"]

_TOKEN = re.compile(r"\w+|[^\w\s]")


def positional_token_match(sample: Sample) -> Score:
    """Score the share of the answer's tokens that the reference has at the same position.

    Formula: max over the references of the number of positions at which answer and reference have the same token,
    divided by the number of the answer's tokens. A token is a word or one punctuation mark, after folding (NFKC, case).
    If the record is Chinese, or the answer or the reference has a Han character, jieba cuts the tokens. References as
    in `squad.exact_match`. An additional first word shifts all tokens: "the Paris" scores 0 for "Paris".
    Range: 0..1, higher is better. Empty input: an answer without tokens scores 0; no gold is not applicable.
    Source: R-Eval's paper (Tu et al., KDD 2024), which calls it F1 and counts GPT-2's tokens. GPT-2's tokens need a
    file that is not part of this package, so tokens are words here. R-Eval's published code computes `hotpot_f1`
    instead.
    """
    chinese = is_chinese(sample)
    return best_score(sample, lambda answer, reference: _share(answer, reference, chinese))


def _share(answer: str, reference: str, chinese: bool) -> float:
    chinese = chinese or has_chinese(reference)
    answer_tokens, reference_tokens = _tokens(answer, chinese), _tokens(reference, chinese)
    if not answer_tokens:
        return 0.0
    matches = sum(one == other for one, other in zip(answer_tokens, reference_tokens, strict=False))
    return matches / len(answer_tokens)


@cached_per_text
def _tokens(text: str, chinese: bool) -> list[str]:
    """Return the words and punctuation marks of a text."""
    folded = fold(text)
    if not chinese:
        return _TOKEN.findall(folded)
    return [token for token in tokens(folded) if not token.isspace()]


POSITIONAL_TOKEN_MATCH = Metric("positional_token_match", positional_token_match)
