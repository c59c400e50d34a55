"""Semantic similarity: the cosine of the embeddings of answer and reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from pytest_rageval.errors import CaseError
from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.answers.squad import references
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["SEMANTIC_SIMILARITY", "semantic_similarity"]


def semantic_similarity(sample: Sample) -> Score:
    """Score the similarity of the answer's embedding to that of the nearest reference.

    Formula: max over the references of max(0, cos); cos is the cosine of the embeddings of the answer and the reference
    by the session's embedding model. Negative cosines count as 0. Unrelated texts have a cosine of about 0 and score
    about 0; with (1 + cos) / 2 they would score 0.5. References as in `squad.exact_match`.
    Range: 0..1, higher is better; the value of a right answer depends on the model. Empty input: a blank answer, or
    only blank references, 0; no gold is not applicable.
    Source: Risch et al., 2021 (semantic answer similarity, its bi-encoder).
    """
    if not sample.case.instance.gold:
        return NO_GOLD
    answer, *others = _texts(sample) or [""]
    if not others:
        return Score(0.0)
    if sample.vectors is None:
        return Score(reason="embedder_unavailable")
    vectors = sample.vectors
    return Score(max(_similarity(vectors[answer], vectors[other]) for other in others))


def _texts(sample: Sample) -> list[str]:
    """Return the answer and the references, or nothing if either side has only blank texts."""
    answer = sample.answer.text
    if not sample.case.instance.gold or not answer.strip():
        return []
    others = [other for other in references(sample) if other.strip()]
    return [answer, *others] if others else []


def _similarity(one: Sequence[float], other: Sequence[float]) -> float:
    length = math.hypot(*one) * math.hypot(*other)
    if not 0 < length < math.inf:
        raise CaseError("embedder_error", "the embedding model gave a vector of zeros, or one that is not finite")
    return min(1.0, max(0.0, math.fsum(map(mul, one, other)) / length))


SEMANTIC_SIMILARITY = Metric("semantic_similarity", semantic_similarity, texts=_texts)
