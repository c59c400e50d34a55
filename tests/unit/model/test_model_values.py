from __future__ import annotations

import dataclasses
import pkgutil
from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

import pytest

import pytest_rageval.model
from pytest_rageval.model.chat import Embeddings
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE, RGB_MARKERS, Markers
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.verdict import Verdict

CLASSES = [
    value
    for info in pkgutil.iter_modules(pytest_rageval.model.__path__)
    for value in vars(import_module(f"pytest_rageval.model.{info.name}")).values()
    if isinstance(value, type) and dataclasses.is_dataclass(value) and value.__module__.endswith(f".{info.name}")
]


def test_all_dataclasses_of_the_model_are_tested() -> None:
    assert {cls.__name__ for cls in CLASSES} == {
        "Answer", "Bounds", "Calls", "Case", "Chunk", "Completion", "Diagnosis", "EarlierLabel", "Embeddings",
        "EvidencePlace", "EvidenceUnit", "Instance", "LocatedEvidence", "Markers", "Metric", "OldAnswer", "Outcome",
        "Passage", "Query", "Ranking", "Rule", "Sample", "Score", "ScoredPassage", "Step", "ToolCall", "Turn", "Usage",
        "Verdict", "Vote",
    }  # fmt: skip


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_values_are_immutable(cls: Any) -> None:
    fields = dataclasses.fields(cls)
    valid = {Score: 1.0, Verdict: 1.0, Embeddings: ()}
    value: Any = cls(valid[cls]) if cls in valid else cls(*[None] * sum(map(is_required, fields)))
    for field in fields:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(value, field.name)
    with pytest.raises((TypeError, AttributeError)):
        value.something_new = 1
    assert not hasattr(value, "__dict__")


def is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@pytest.mark.parametrize(
    "arguments",
    [{}, {"value": 1.0, "reason": "why"}, {"value": 0.0, "reason": "why"}, {"reason": ""}, {"value": None}],
)
def test_a_score_has_either_a_value_or_a_reason(arguments: Any) -> None:
    with pytest.raises(ValueError, match="a Score has either a value or a reason"):
        Score(**arguments)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_score_is_never_nan_or_infinite(value: float) -> None:
    with pytest.raises(ValueError, match=f"a Score's value is a finite number, not {value}"):
        Score(value)


def test_a_score_of_zero_is_a_value() -> None:
    assert Score(0.0).value == 0.0
    assert Score(0.0).reason is None


def test_a_score_that_does_not_apply_has_the_reason_not_applicable() -> None:
    assert Score.not_applicable() == Score(reason="not_applicable")
    assert Score.not_applicable("no gold") == Score(reason="not_applicable: no gold")


def test_a_ranking_is_a_sequence_of_passages() -> None:
    items = (ScoredPassage("a", 2.0, "text", "title"), ScoredPassage("b"))
    ranking = Ranking(items)
    assert (len(ranking), tuple(ranking), ranking[0], ranking[-1]) == (2, items, items[0], items[1])
    assert ranking.doc_ids == ("a", "b")
    assert (len(Ranking()), Ranking().doc_ids) == (0, ())
    with pytest.raises(IndexError):
        ranking[2]


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        ((), None),
        ([ScoredPassage("a", 1, "text", "title", "page", (0, 4)), ScoredPassage("b")], None),
        ({ScoredPassage("a")}, "holds a set; write Ranking(tuple(...)) with a ScoredPassage for each passage"),
        ("ab", "holds 'ab'; write Ranking(tuple(...)) with a ScoredPassage for each passage"),
        (("a",), "holds 'a' at place 1; write ScoredPassage(...) for each passage"),
        (
            (ScoredPassage("a", None, cast("str", None)),),
            "holds at place 1 a passage with the text None; it must be a str",
        ),
        ((ScoredPassage("a", title=cast("str", 1)),), "holds at place 1 a passage with the title 1; it must be a str"),
        ((ScoredPassage("a", page=cast("str", 1)),), "holds at place 1 a passage with the page 1; it must be a str"),
        (
            (ScoredPassage("a", cast("float", "1")),),
            "holds at place 1 a passage with the score '1'; it must be a number or None",
        ),
        (
            (ScoredPassage("a", span=cast("tuple[int, int]", (0, True))),),
            "holds at place 1 a passage with the span (0, True); it must be two integers or None",
        ),
    ],
)
def test_a_ranking_reports_its_first_fault(items: Any, fault: str | None) -> None:
    assert Ranking(items).fault == fault


def test_the_sentences_of_the_protocol_contain_the_markers() -> None:
    kinds: list[tuple[Mapping[str, str], Mapping[str, tuple[str, ...]]]] = [
        (REJECTION_SENTENCE, RGB_MARKERS.rejection),
        (ERROR_SENTENCE, RGB_MARKERS.error),
    ]
    for sentences, markers in kinds:
        assert set(sentences) == set(markers) == {"en", "zh"}
        for language, sentence in sentences.items():
            assert all(marker in sentence for marker in markers[language])
    assert Markers({}, {}) != RGB_MARKERS


@pytest.mark.parametrize("constant", [REJECTION_SENTENCE, ERROR_SENTENCE, RGB_MARKERS.rejection, RGB_MARKERS.error])
def test_the_constants_of_the_benchmark_are_immutable(constant: Any) -> None:
    with pytest.raises(TypeError, match="does not support item assignment"):
        constant["en"] = ""


def test_an_object_with_a_search_method_is_a_retriever() -> None:
    class UserRetriever:
        def search(self, query: str, k: int, /) -> Ranking:
            return Ranking()

    assert isinstance(UserRetriever(), Retriever)
    assert not isinstance(object(), Retriever)
