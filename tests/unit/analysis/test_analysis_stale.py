"""Gates over cases with stale labels fail and say how to fix the labels."""

from __future__ import annotations

import pytest
from support.samples.outcome_samples import outcome, repeats

from pytest_rageval.analysis.baseline.regression import GateBaseline
from pytest_rageval.analysis.baseline.stale_labels import has_stale_score
from pytest_rageval.analysis.decisions.decide import evaluate
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.outcome import Outcome

STALE = "stale_labels"
WHY = "their ids name other text than in the baseline"


def judge(gate: str, *outcomes: Outcome) -> GateResult:
    return evaluate(parse_gate(gate), "test_a", outcomes, {"R@5": MetricInfo()}, 0, GateBaseline())


@pytest.mark.parametrize("gate", ["R@5 >= 0.1", "R@5 >= baseline - 0.02", "R@5[min_n=2] >= 0.1"])
def test_one_stale_case_fails_a_gate_that_the_other_cases_pass(gate: str) -> None:
    valid = [outcome(name, 1.0, metric="R@5") for name in ("a", "b")]
    result = judge(gate, *valid, outcome("c", STALE, metric="R@5"))
    assert (result.status, result.value, result.n, result.regression) == ("failed", 1.0, 2, None)
    assert result.reason == f"stale labels in 1 of 3 cases (turn them into quotes with rageval anchor): {WHY}"
    assert result.bare_reason == "stale labels in 1 of 3 cases (turn them into quotes with rageval anchor)"
    assert result.unscored == {STALE: 1}


def test_repeats_of_a_case_count_once() -> None:
    runs = [*repeats("a", STALE, STALE, metric="R@5"), *repeats("b", 1.0, 1.0, metric="R@5")]
    assert str(judge("R@5 >= 0.1", *runs).reason).startswith("stale labels in 1 of 2 cases")


def test_a_gate_over_cells_names_the_stale_cell_and_decides_the_others() -> None:
    fresh, stale = outcome("a", 1.0, metric="R@5", topic="Funds"), outcome("b", STALE, metric="R@5", topic="Loans")
    result = judge("R@5[topic=*] >= 0.1", fresh, stale)
    assert [cell.status for cell in result.cells] == ["passed", "failed"]
    headline = "stale labels in 1 of 1 cases (turn them into quotes with rageval anchor) at topic=Loans"
    assert result.reason == f"{headline}: {WHY}"
    assert judge("R@5[topic=Funds] >= 0.1", fresh, stale).status == "passed"


def test_only_ranking_metrics_can_be_stale() -> None:
    assert has_stale_score(outcome("a", STALE, metric="R@5"))
    assert not has_stale_score(outcome("a", 0.0, metric="R@5"))
    assert judge("accuracy >= 0.5", outcome("a", 1.0), outcome("b", 1.0)).status == "passed"
