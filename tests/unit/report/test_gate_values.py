"""The values of a gate in reports: their format, and the cases that they count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rageval.analysis.baseline.paired_tests import paired_test
from pytest_rageval.analysis.baseline.regression import Regression
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.report.run.gate_values import gate_values, reason_without_values, values_of_result


@pytest.mark.parametrize(
    ("expr", "value", "was", "texts"),
    [
        ("accuracy >= 0.5", 0.25, None, ("–", "0.25")),
        ("accuracy >= 0.8", 0.796875, None, ("–", "0.797")),
        ("accuracy >= baseline - 0.02", 0.9286, 0.9333, ("0.933", "0.929")),
        ("accuracy >= 0.5", None, None, ("–", "–")),
        ("error_rate <= 1%", 0.07, None, ("–", "0.07")),
        ("n >= 900", 907, None, ("–", "907")),
        ("cost_usd <= 1", 0.00012, None, ("–", "0.00012")),
    ],
)
def test_values_have_as_many_decimals_as_needed_to_tell_them_apart(
    expr: str, value: float | None, was: float | None, texts: tuple[str, str]
) -> None:
    assert gate_values(parse_gate(expr), value, was) == texts


def test_a_baseline_gate_shows_the_values_of_the_cases_in_both_runs() -> None:
    gate = parse_gate("accuracy >= baseline")
    test_result = paired_test([1.0] * 8, [0.5] * 8)
    result = GateResult(gate, "town", "failed", 0.25, 20, regression=Regression(test_result, 0.01, "worse"))
    assert values_of_result(result) == (("1.00", "0.50"), 8)
    assert values_of_result(replace(result, value=0.5)) == (("1.00", "0.50"), 20)
    assert values_of_result(replace(result, regression=None)) == (("–", "0.25"), 20)


def test_a_reason_that_repeats_the_values_is_reduced_to_its_place() -> None:
    gate = parse_gate("accuracy[topic=*] >= baseline")
    reason = "accuracy changed by -0.2 against the baseline, one-sided p 0.01 over 8 cases at topic=A"
    assert reason_without_values(reason, gate, "topic=A") == "at topic=A"
    assert reason_without_values("accuracy is 0.2", gate, "") == ""
    assert reason_without_values("nothing was scored", gate, "topic=A") == "nothing was scored"
