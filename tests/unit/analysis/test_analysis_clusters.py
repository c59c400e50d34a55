"""The repeats of a case count as one case."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.outcome_samples import failed, outcome, repeats, skipped

from pytest_rageval.analysis.cells import Cell, cell_of, difference_of
from pytest_rageval.analysis.clusters import by_case, case_names
from pytest_rageval.analysis.decisions.decide import evaluate
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.matrix import matrix_of
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.statistics import (
    Interval,
    Mean,
    bonett_price_interval,
    bootstrap_interval,
    clustered_interval,
    mean_of,
    mean_of_cases,
)
from pytest_rageval.metrics.shared.proportion import wilson_interval


def test_the_mean_and_its_bootstrap_interval_are_over_the_means_of_cases() -> None:
    outcomes = [*repeats("a", 1.0, 1.0, 1.0), *repeats("b", 1.0, 0.0, 0.0), *repeats("c", 0.0, 0.0, 1.0)]
    means = [1.0, 1 / 3, 1 / 3]
    cell = cell_of("accuracy", True, outcomes)
    assert cell.mean == pytest.approx(5 / 9)
    assert (cell.n, cell.n_cases, cell.n_unscored) == (9, 3, 0)
    assert cell.ci95 == pytest.approx(bootstrap_interval(means))
    assert cell.ci95 != wilson_interval(5, 9)


def test_cases_have_equal_weight_whatever_number_of_repeats_was_scored() -> None:
    outcomes = [*repeats("a", 1.0, None, "parse_error"), *repeats("b", 0.0, 0.0, 0.0)]
    assert cell_of("accuracy", True, outcomes) == Cell(0.5, 4, 2, wilson_interval(1, 2), 2)


def test_a_rate_of_cases_that_never_flip_keeps_wilsons_interval_over_cases() -> None:
    outcomes = [*repeats("a", 1.0, 1.0, 1.0), *repeats("b", 1.0, 1.0, 1.0), *repeats("c", 0.0, 0.0, 0.0)]
    assert cell_of("accuracy", True, outcomes) == Cell(2 / 3, 9, 0, wilson_interval(2, 3), 3)


@pytest.mark.parametrize("binary", [True, False])
def test_one_repeat_per_case_gives_the_same_numbers_as_no_repeats(binary: bool) -> None:
    values = [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0] if binary else [0.1, 0.2, 0.7, 1 / 3, 0.9]
    plain = cell_of("accuracy", binary, [outcome(str(at), value) for at, value in enumerate(values)])
    once = cell_of("accuracy", binary, [each for at, v in enumerate(values) for each in repeats(str(at), v)])
    assert (plain.mean, plain.n, plain.ci95, plain.n_cases) == (once.mean, once.n, once.ci95, None)
    assert once.n_cases == len(values)
    mean = mean_of(values, binary=binary)
    assert plain == Cell(mean.value, mean.n, 0, mean.ci95)


def test_the_mean_of_cases_is_missing_without_a_score() -> None:
    assert mean_of_cases([], binary=True) == Mean(None, 0, None, 0)
    assert cell_of("accuracy", True, repeats("a", None, None)) == Cell(None, 0, 2, None, 0)


def test_settings_distinguish_cases_and_measured_facets_do_not() -> None:
    outcomes = [
        *repeats("a", 1.0, 0.0, noise_rate="0", noise_realised="0"),
        *repeats("a", 1.0, 1.0, noise_rate="0.4", noise_realised="0.5"),
        outcome("b", 1.0, repeat="1", noise_rate="0", knew="true"),
        outcome("b", 0.0, repeat="2", noise_rate="0", knew="false"),
    ]  # fmt: skip
    cases = list(by_case(outcomes).values())
    assert [len(case) for case in cases] == [2, 2, 2]
    assert case_names(cases) == ["a (noise_rate=0)", "a (noise_rate=0.4)", "b"]


def test_a_matrix_over_repeats_counts_cases_in_every_cell_and_margin() -> None:
    outcomes = [*repeats("a", 1.0, 0.0, topic="A", task="x"), *repeats("b", 1.0, 1.0, topic="B", task="x")]
    matrix = matrix_of("accuracy", True, outcomes, "topic", "task")
    assert [(row[0].mean, row[0].n, row[0].n_cases) for row in matrix.cells if row[0]] == [(0.5, 2, 1), (1.0, 2, 1)]
    assert (matrix.total.mean, matrix.total.n, matrix.total.n_cases) == (0.75, 4, 2)


def test_the_error_rate_is_over_cases() -> None:
    outcomes = [*repeats("a", 1.0, None), *repeats("b", 1.0, 1.0), *repeats("c", None, None)]
    cell = cell_of("error_rate", True, outcomes)
    assert (cell.mean, cell.n, cell.n_cases) == (0.5, 6, 3)
    assert cell.ci95 == pytest.approx(bootstrap_interval([0.5, 0.0, 1.0]))


def test_a_failed_gate_separates_always_missing_from_flipping_cases() -> None:
    outcomes = [
        *repeats("worse", 0.0, 0.0, 0.0), *repeats("flaky", 0.0, 1.0, 0.0), *repeats("fine", 1.0, 1.0, 1.0),
        *repeats("partly", 0.0, None, "parse_error"), *repeats("never", None, None, None),
    ]  # fmt: skip
    result = evaluate(parse_gate("accuracy >= 0.9"), "test_a", outcomes, {"accuracy": MetricInfo(binary=True)})
    assert (result.status, result.n, result.n_cases, result.n_errors) == ("failed", 10, 4, 4)
    assert result.value == pytest.approx((0 + 1 / 3 + 1 + 0) / 4)
    assert result.flaws is not None
    assert (result.flaws.always, result.flaws.flipping) == (("worse", "partly"), ("flaky",))
    assert evaluate(parse_gate("accuracy >= 0.1"), "test_a", outcomes, {}).flaws is None


def test_the_flaws_are_those_of_the_deciding_cell() -> None:
    outcomes = [*repeats("a", 0.0, 0.0, topic="A"), *repeats("b", 1.0, 0.0, topic="B"), *repeats("c", 1.0, topic="C")]
    result = evaluate(parse_gate("accuracy[topic=*] >= 0.9"), "test_a", outcomes, {"accuracy": MetricInfo(True)})
    assert result.slice == {"topic": "A"}
    assert result.flaws is not None
    assert (result.flaws.always, result.flaws.flipping) == (("a",), ())


def test_without_repeats_a_failed_gate_has_no_flaws_and_no_count_of_cases() -> None:
    result = evaluate(parse_gate("accuracy >= 0.9"), "test_a", [outcome("a", 0.0), failed("b"), skipped("c")], {})
    assert (result.status, result.flaws, result.n_cases) == ("failed", None, None)


RATES = ("0", "0.4", "0.8")


def test_the_interval_is_over_cases_also_with_several_settings() -> None:
    values = {"a": (1.0, 1.0, 0.0), "b": (1.0, 0.0, 0.0), "c": (1.0, 1.0, 1.0), "d": (0.0, 0.0, 0.0)}
    outcomes = [
        outcome(name, value, noise_rate=rate)
        for name, each in values.items()
        for rate, value in zip(RATES, each, strict=True)
    ]
    cell = cell_of("accuracy", True, outcomes)
    assert (cell.mean, cell.n, cell.n_cases) == (0.5, 12, None)
    assert cell.ci95 == clustered_interval(list(values.values()), binary=True)
    one_rate = [each for each in outcomes if each.facets["noise_rate"] == "0.4"]
    assert cell_of("accuracy", True, one_rate).ci95 == wilson_interval(2, 4)


def test_cases_with_equal_scores_under_all_settings_count_once() -> None:
    values = [1.0, 1.0, 0.0, 1.0]
    outcomes = [outcome(str(at), value, noise_rate=rate) for at, value in enumerate(values) for rate in RATES]
    assert cell_of("accuracy", True, outcomes) == Cell(0.75, 12, 0, wilson_interval(0.75 * 3, 3))
    right = [*outcomes[:3], outcomes[3]]
    assert cell_of("accuracy", True, right) == Cell(1.0, 4, 0, wilson_interval(2, 2))


def test_a_case_with_more_settings_has_more_weight() -> None:
    outcomes = [outcome("a", 1.0, noise_rate=rate) for rate in RATES] + [outcome("b", 0.0), outcome("c", 0.5)]
    cell = cell_of("f1", False, [replace(each, scores={"f1": each.scores["accuracy"]}) for each in outcomes])
    assert cell.mean == pytest.approx(0.7)
    assert cell.ci95 == clustered_interval([[1.0, 1.0, 1.0], [0.0], [0.5]], binary=False)


def test_repeats_under_several_settings_are_one_case() -> None:
    outcomes = [each for name, value in (("a", 1.0), ("b", 0.0), ("c", 1.0)) for rate in RATES
                for each in repeats(name, value, value, noise_rate=rate)]  # fmt: skip
    assert cell_of("accuracy", True, outcomes) == Cell(2 / 3, 18, 0, wilson_interval(2 / 3 * 2, 2), 9)


def test_the_difference_of_systems_is_over_cases() -> None:
    ours = {"a": (1.0, 1.0), "b": (1.0, 0.0), "c": (0.0, 0.0)}
    outcomes = [
        replace(outcome(name, value if system == "new" else 0.0, noise_rate=rate), system=system)
        for name, each in ours.items()
        for rate, value in zip(RATES, each, strict=False)
        for system in ("new", "old")
    ]
    results = difference_of("accuracy", outcomes, "new")
    assert (results.mean, results.n, results.n_unscored) == (0.5, 6, 0)
    assert results.ci95 == clustered_interval([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]], binary=False, low=-1.0)


def rounded(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (round(interval[0], 3), round(interval[1], 3))


def test_dialogues_with_equal_turns_count_once_each() -> None:
    """11 of 20 dialogues are right in all 5 turns. The interval is Wilson's over dialogues, not over 100 turns."""
    turns = [
        outcome(f"{dialogue}-{turn}", float(dialogue < 11), dialogue=str(dialogue), round=str(turn))
        for dialogue in range(20)
        for turn in range(5)
    ]
    cell = cell_of("accuracy", True, turns)
    assert (cell.mean, cell.n, cell.n_units, cell.unit) == (0.55, 100, 20, "dialogue")
    assert rounded(cell.ci95) == (0.337, 0.746)
    assert rounded(wilson_interval(55, 100)) == (0.452, 0.644)
    loose = [replace(each, facets={}) for each in turns]
    assert (cell_of("accuracy", True, loose).ci95, cell_of("accuracy", True, loose).n_units) == (
        wilson_interval(55, 100),
        None,
    )


def test_the_interval_of_units_of_different_sizes_is_students_t_on_the_logit_scale() -> None:
    """Units 1 1 0, 1 and 0 0: m = 1/2, without each unit 1/3, 2/5 and 3/4, thus v = 2/3 (1/36 + 1/100 + 1/16).

    With t = 4.3027 for 2 degrees of freedom, 4.3027 sqrt(v) / 0.25 = 4.4500: the ends are 1 / (1 + exp(±4.4500)).
    """
    interval = clustered_interval([[1.0, 1.0, 0.0], [1.0], [0.0, 0.0]], binary=True)
    assert interval == pytest.approx((0.01155, 0.98845), abs=5e-5)


def test_one_unit_alone_gives_no_interval() -> None:
    assert clustered_interval([[1.0, 0.0]], binary=True) is None
    assert clustered_interval([[0.2, 0.4]], binary=False) is None


def test_repeats_of_turns_belong_to_their_dialogue() -> None:
    turns = [each for at in range(6) for each in repeats(f"t{at}", 1.0, float(at % 2), dialogue=f"d{at // 2}")]
    cell = cell_of("accuracy", True, turns)
    assert (cell.mean, cell.n, cell.n_cases, cell.n_units, cell.unit) == (0.75, 12, 6, 3, "dialogue")


def test_the_difference_of_systems_is_over_dialogues() -> None:
    outcomes = [
        replace(outcome(f"{dialogue}-{turn}", value, dialogue=str(dialogue)), system=system)
        for dialogue, gain in enumerate((1.0, 0.0, 1.0))
        for turn in range(2)
        for system, value in (("new", gain), ("old", 0.0))
    ]
    results = difference_of("accuracy", outcomes, "new")
    assert (results.n, results.n_units, results.unit) == (6, 3, "dialogue")
    assert results.ci95 == pytest.approx(bonett_price_interval(2, 0, 3))


def test_dialogues_whose_turns_change_alike_have_bonett_and_prices_interval() -> None:
    changes = [[-1.0, -1.0]] * 4 + [[1.0, 1.0]] + [[0.0, 0.0]] * 10
    assert clustered_interval(changes, binary=False, low=-1.0) == pytest.approx(bonett_price_interval(1, 4, 15))
    assert clustered_interval([[0.0, 0.0]] * 15, binary=False, low=-1.0) == pytest.approx(
        bonett_price_interval(0, 0, 15)
    )


def test_changes_of_a_tenth_have_an_interval_of_a_tenth() -> None:
    """Three units (-0.1, -0.1, 0.1) and two added ones (-0.1, 0.1): their mean c is -0.02, their mean square 0.01.

    Half the width of the interval is 1.96 sqrt(0.01 - c^2) / sqrt(5) = 1.96 * 0.09798 / 2.23607 = 0.08588.
    """
    results = clustered_interval([[-0.1] * 2, [-0.1] * 2, [0.1] * 2], binary=False, low=-1.0)
    assert results == pytest.approx((-0.10588, 0.06588), abs=1e-5)
