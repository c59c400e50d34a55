"""Compare counterfactual twins with hand-written vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.generation.abilities.answer import Answer
from pytest_rageval.generation.abilities.answer_reading import is_decided, read_answer
from pytest_rageval.generation.abilities.counterfactuals import make_counterfactual, make_twin
from pytest_rageval.generation.abilities.edit import Drop
from pytest_rageval.model.case import Instance, Passage

QUESTION = "What is it?"


@pytest.fixture
def vectors(rageval_data: Path) -> list[dict[str, Any]]:
    path = rageval_data / "vectors" / "counterfactual_vectors.json"
    if not path.exists():
        pytest.skip("the vectors of counterfactual replacements are not there")
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def answer_of(vector: dict[str, Any]) -> Answer[Any] | Drop:
    return read_answer((vector["answer"],), [vector["pool"]] if "pool" in vector else [])


def passage_of(vector: dict[str, Any]) -> Passage:
    return Passage("p0", vector["text"], role="positive")


def is_accepted(vector: dict[str, Any], answer: Answer[Any], fake: str) -> bool:
    value = answer.value_of(fake)
    if value is None or not is_decided(QUESTION, (vector["answer"],), answer.fakes(value), answer.kind):
        return False
    return isinstance(make_twin(passage_of(vector), ((answer, value),)), Passage)


def test_a_twin_from_the_example_of_a_vector_has_its_text(vectors: list[dict[str, Any]]) -> None:
    examples = [vector for vector in vectors if "example" in vector]
    assert len(examples) >= 7
    for vector in examples:
        answer = answer_of(vector)
        assert not isinstance(answer, Drop)
        assert answer.kind == vector["kind"]
        changed = make_twin(passage_of(vector), ((answer, answer.value_of(vector["example"])),))
        assert isinstance(changed, Passage), vector
        assert changed.text == vector["expect_text"]
        assert is_accepted(vector, answer, vector["example"])


def test_fakes_that_a_vector_refuses_are_not_accepted(vectors: list[dict[str, Any]]) -> None:
    refused = [(vector, fake) for vector in vectors for fake in vector.get("refuse", [])]
    assert len(refused) >= 4
    for vector, fake in refused:
        answer = answer_of(vector)
        assert not isinstance(answer, Drop)
        assert not is_accepted(vector, answer, fake), (vector, fake)


def test_a_twin_changes_only_the_answer_or_has_a_reason(vectors: list[dict[str, Any]]) -> None:
    for vector in vectors:
        lists = [vector["pool"]] if "pool" in vector else []
        instance = Instance("q1", QUESTION, ((vector["answer"],),))
        for seed in range(20):
            result = make_counterfactual(instance, [passage_of(vector)], seed, lists)
            if vector.get("expect") == "dropped":
                assert result.reason is not None
                assert result.reason.reason == vector["reason"]
                assert not result.twins
                continue
            text = result.twins["p0"].text
            assert result.fake[0][0] in text
            assert all(phrase in text for phrase in vector.get("must_not_change", []))
            assert result.fake[0][0] not in vector.get("refuse", [])
