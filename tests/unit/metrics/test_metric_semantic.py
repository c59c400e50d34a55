from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.errors import CaseError
from pytest_rageval.metrics.answers.semantic import SEMANTIC_SIMILARITY
from pytest_rageval.model.sample import Sample

VECTORS = {
    "east": (2.0, 0.0),
    "north": (0.0, 1.0),
    "north-east": (3.0, 3.0),
    "west": (-1.0, 0.0),
    "nowhere": (0.0, 0.0),
}


def with_vectors(answer_sample: Sample, vectors: Mapping[str, Sequence[float]] | None = VECTORS) -> Sample:
    return replace(answer_sample, vectors=vectors)


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        ("east", ["east"], 1.0),
        ("east", ["north", "north-east"], 0.5**0.5),
        ("east", ["north"], 0.0),
        ("east", ["west"], 0.0),
        ("", ["east"], 0.0),
        (" ", ["east"], 0.0),
        ("east", [" "], 0.0),
    ],
)
def test_the_value_is_the_cosine_with_the_nearest_reference(
    answer: str, references: list[str], expected: float
) -> None:
    assert value(SEMANTIC_SIMILARITY, with_vectors(sample(answer, slots(references)))) == pytest.approx(expected)


def test_the_value_is_missing_without_a_model_or_gold() -> None:
    assert value(SEMANTIC_SIMILARITY, sample("east", slots("east"))) == "embedder_unavailable"
    assert value(SEMANTIC_SIMILARITY, sample("east")) == "not_applicable: no_gold"


def test_the_texts_to_embed_are_the_answer_and_the_references_without_blank_ones() -> None:
    assert SEMANTIC_SIMILARITY.texts is not None
    assert SEMANTIC_SIMILARITY.texts(sample("east", slots(["north", " "]))) == ["east", "north"]
    assert SEMANTIC_SIMILARITY.texts(sample(" ", slots("north"))) == []
    assert SEMANTIC_SIMILARITY.texts(sample("east north", slots("east", ["north", "west"]))) == ["east north"] * 2


def test_a_vector_of_zeros_is_an_error() -> None:
    with pytest.raises(CaseError, match="a vector of zeros, or one that is not finite"):
        value(SEMANTIC_SIMILARITY, with_vectors(sample("east", slots("nowhere"))))
