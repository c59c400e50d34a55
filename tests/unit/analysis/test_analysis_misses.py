"""Cases that miss a gate."""

from __future__ import annotations

import pytest
from support.samples.outcome_samples import failed, outcome, skipped

from pytest_rageval.analysis.account.sentences import case_sentence
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.misses import is_miss


def is_missed(value: float, *gates: str, higher: bool = True) -> bool:
    return is_miss(outcome("a", value), "accuracy", higher, [parse_gate(gate) for gate in gates])


@pytest.mark.parametrize(
    ("value", "higher", "expected"),
    [(0.0, True, True), (0.01, True, False), (1.0, True, False),
     (1.0, False, True), (0.99, False, False), (0.0, False, False)],
)  # fmt: skip
def test_without_a_gate_a_case_misses_at_the_worst_value(value: float, higher: bool, expected: bool) -> None:
    assert is_missed(value, higher=higher) is expected


@pytest.mark.parametrize(
    ("value", "gate", "expected"),
    [
        (0.84, "accuracy >= 0.85", True),
        (0.85, "accuracy >= 0.85", False),
        (0.0, "accuracy >= 0", False),
        (0.2, "accuracy <= 0.1", True),
        (0.0, "accuracy < 0.1", False),
    ],
)
def test_with_a_gate_on_the_metric_its_bound_decides(value: float, gate: str, expected: bool) -> None:
    assert is_missed(value, gate) is expected
    assert is_missed(value, "error_rate <= 0.01", gate) is expected


@pytest.mark.parametrize("gate", ["accuracy[topic=A] >= 0.9", "accuracy >= baseline", "token_f1 >= 0.9", "n >= 3"])
def test_a_gate_on_something_else_does_not_decide(gate: str) -> None:
    assert not is_missed(0.5, gate)
    assert is_missed(0.0, gate)


def test_an_unscored_case_does_not_miss() -> None:
    for other in (failed("a", 0.0), skipped("a"), outcome("a", "parse_error"), outcome("a", 0.0, metric="token_f1")):
        assert not is_miss(other, "accuracy", True, [parse_gate("accuracy >= 0.5")])


@pytest.mark.parametrize(
    ("value", "gates", "text"),
    [
        (0.0, (), "accuracy 0.00"),
        (0.0, ("token_f1 >= 0.5",), "accuracy 0.00"),
        (0.27, ("error_rate <= 0.01", "accuracy >= 0.5"), "accuracy 0.27 < 0.50"),
        (0.796875, ("accuracy >= 0.8",), "accuracy 0.797 < 0.800"),
        (0.2, ("accuracy <= 0.1",), "accuracy 0.20 > 0.10"),
    ],
)
def test_a_missed_case_says_its_value_and_the_bound(value: float, gates: tuple[str, ...], text: str) -> None:
    assert case_sentence(outcome("a", value), "accuracy", [parse_gate(gate) for gate in gates]) == text
