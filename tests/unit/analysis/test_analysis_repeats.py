"""Statistics of repeated cases."""

from __future__ import annotations

from statistics import stdev

import pytest
from support.samples.outcome_samples import outcome, repeats, skipped

from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.repeats import Repeats, repeats_of
from pytest_rageval.model.outcome import Outcome


def result_of(outcomes: list[Outcome], *gates: str, higher: bool = True, metric: str = "accuracy") -> Repeats | None:
    return repeats_of(metric, higher, [parse_gate(gate) for gate in gates], outcomes)


def test_repeats_give_mean_spread_pass_rates_and_flips() -> None:
    outcomes = [*repeats("a", 1.0, 1.0, 1.0), *repeats("b", 1.0, 0.0, 1.0), *repeats("c", 0.0, 0.0, 0.0)]
    result = result_of(outcomes)
    assert result is not None
    assert (result.testbed, result.system, result.metric) == ("test_a.py::test_a", "rag_system", "accuracy")
    assert (result.k, result.n_cases, result.n_complete) == (3, 3, 3)
    assert result.mean == pytest.approx(5 / 9)
    assert result.spread == pytest.approx(stdev([2 / 3, 1 / 3, 2 / 3]))
    assert result.pass_at_1 == pytest.approx(5 / 9)
    assert result.pass_hat_k == pytest.approx(1 / 3)
    assert (result.flips, result.always_missed) == (("b",), ("c",))


def test_the_gate_or_the_metric_direction_decides_whether_a_repeat_passes() -> None:
    outcomes = [*repeats("a", 0.9, 0.6), *repeats("b", 0.4, 0.6), *repeats("c", 0.1, 0.2)]
    gated = result_of(outcomes, "accuracy >= 0.5")
    assert gated is not None
    assert gated.pass_at_1 == pytest.approx(0.5)
    assert gated.pass_hat_k == pytest.approx(1 / 3)
    assert (gated.flips, gated.always_missed) == (("b",), ("c",))
    lower = result_of([*repeats("a", 1.0, 1.0), *repeats("b", 0.0, 1.0)], higher=False)
    assert lower is not None
    assert (lower.pass_hat_k, lower.flips, lower.always_missed) == (0.0, ("b",), ("a",))


def test_an_unscored_repeat_counts_as_neither_passed_nor_missed() -> None:
    outcomes = [
        *repeats("a", 1.0, None, 1.0), *repeats("b", 0.0, "parse_error", 0.0), *repeats("c", None, None, None),
        *repeats("d", 1.0, 1.0, 1.0),
    ]  # fmt: skip
    result = result_of(outcomes)
    assert result is not None
    assert (result.k, result.n_cases, result.n_complete) == (3, 3, 1)
    assert result.pass_at_1 == pytest.approx(2 / 3)
    assert result.pass_hat_k == 1.0
    assert (result.flips, result.always_missed) == ((), ("b",))


def test_statistics_are_missing_without_scores() -> None:
    result = result_of(repeats("a", None, None))
    assert result is not None
    assert (result.mean, result.spread, result.pass_at_1, result.pass_hat_k) == (None, None, None, None)
    assert (result.n_cases, result.flips, result.always_missed) == (0, (), ())


def test_cases_that_ran_once_have_no_repeats() -> None:
    assert result_of([outcome("a", 1.0), outcome("b", 0.0)]) is None
    assert result_of([*repeats("a", 1.0), *repeats("b", 0.0)]) is None
    assert result_of([outcome("a", 1.0, repeat="yes"), outcome("b", 1.0, repeat="no")]) is None  # a facet of the data
    assert result_of([outcome("a", 1.0, repeat="1"), skipped("a", repeat="2")]) is None
    assert result_of([]) is None


def test_flips_are_counted_for_each_setting_of_a_case() -> None:
    outcomes = [*repeats("a", 1.0, 0.0, noise_rate="0.8"), *repeats("a", 1.0, 1.0, noise_rate="0")]
    result = result_of(outcomes)
    assert result is not None
    assert result.flips == ("a (noise_rate=0.8)",)
    assert result.n_cases == 2
