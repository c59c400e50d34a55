"""Scores of whole conversations."""

from __future__ import annotations

from typing import Any

import pytest
from support.samples.outcome_samples import failed, outcome, skipped

from pytest_rageval.analysis.dialogues import Dialogues, dialogues_of
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.model.outcome import Outcome


def result_of(outcomes: list[Outcome], *gates: str, higher: bool = True) -> Dialogues | None:
    return dialogues_of("accuracy", True, higher, [parse_gate(gate) for gate in gates], outcomes)


def talk(name: str, *values: float | str | None, **facets: Any) -> list[Outcome]:
    """Return the turns of a conversation: a value or a reason each, None for an error."""
    return [
        failed(f"{name}.{at}", dialogue=name, round=str(at), **facets)
        if value is None
        else outcome(f"{name}.{at}", value, dialogue=name, round=str(at), **facets)
        for at, value in enumerate(values, 1)
    ]


def test_a_conversation_counts_once_however_long_it_is() -> None:
    result = result_of([*talk("a", 1.0, 1.0, 1.0, 1.0), *talk("b", 0.0, 1.0)])
    assert result is not None
    assert (result.n, result.n_complete) == (2, 2)
    assert result.mean == pytest.approx((1 + 0.5) / 2)
    assert result.whole == 0.5
    assert [(name, cell.mean, cell.n) for name, cell in result.rounds] == [
        ("1", 0.5, 2),
        ("2", 1.0, 2),
        ("3", 1.0, 1),
        ("4", 1.0, 1),
    ]


def test_an_unscored_turn_is_in_no_mean_and_makes_a_conversation_incomplete() -> None:
    result = result_of([*talk("a", 1.0, None), *talk("b", "not_applicable", None), *talk("c", 1.0, 1.0), skipped("d")])
    assert result is not None
    assert (result.n, result.n_complete, result.mean, result.whole) == (2, 1, 1.0, 1.0)
    second = dict(result.rounds)["2"]
    assert (second.n, second.n_unscored) == (1, 2)


def test_each_setting_and_repeat_is_a_separate_conversation() -> None:
    outcomes = [*talk("a", 1.0, 1.0, noise_rate="0"), *talk("a", 0.0, 0.0, noise_rate="0.4")]
    result = result_of([*outcomes, *talk("b", 1.0, 0.0, repeat="1"), *talk("b", 1.0, 1.0, repeat="2")])
    assert result is not None
    assert (result.n, result.whole) == (4, 0.5)


def test_a_gate_or_else_the_direction_decides_what_a_miss_is() -> None:
    outcomes = [*talk("a", 0.6, 0.7), *talk("b", 0.4, 0.9)]
    gated = result_of(outcomes, "accuracy >= 0.5")
    assert gated is not None
    assert gated.whole == 0.5
    lower = result_of([*talk("a", 0.0, 0.0), *talk("b", 0.0, 1.0)], higher=False)
    assert lower is not None
    assert lower.whole == 0.5


def test_rounds_are_in_the_order_of_their_numbers() -> None:
    result = result_of(talk("a", *[1.0] * 11))
    assert result is not None
    assert [name for name, _ in result.rounds] == [str(number) for number in range(1, 12)]


def test_the_result_is_missing_without_a_second_turn() -> None:
    assert result_of([*talk("a", 1.0), *talk("b", 1.0)]) is None
    assert result_of([outcome("q", 1.0)]) is None
    assert result_of([]) is None
