"""Means of judges' values, corrected by labels of people."""

from __future__ import annotations

import random
from math import sqrt
from statistics import fmean, pvariance, variance

import pytest

from pytest_rageval.analysis.corrected_mean import corrected_mean, corrected_mean_of_units
from pytest_rageval.analysis.statistics import t_quantile
from pytest_rageval.analysis.units import Units


def test_a_perfect_judge_narrows_the_interval_of_the_labels() -> None:
    result = corrected_mean([1.0, 0.0] * 10, [1.0, 0.0] * 10, [1.0, 0.0] * 490)
    assert (result.n_labelled, result.n_judged, result.value) == (20, 1000, 0.5)
    assert result.weight == pytest.approx(1, abs=0.06)
    assert result.ci95 is not None
    assert result.labelled.ci95 is not None
    assert result.ci95[1] - result.ci95[0] < 0.7 * (result.labelled.ci95[1] - result.labelled.ci95[0])


@pytest.mark.parametrize("judge_scores", [[1.0] * 20, [1.0, 1.0, 0.0, 0.0] * 5])
def test_a_judge_without_information_leaves_the_mean_of_the_labels(judge_scores: list[float]) -> None:
    result = corrected_mean([1.0, 0.0] * 10, judge_scores, judge_scores * 10)
    assert result.weight == 0
    assert result.value == result.labelled.value == 0.5
    assert result.ci95 == pytest.approx(result.labelled.ci95)


def test_the_bias_of_a_judge_is_corrected() -> None:
    """The judge calls every third wrong answer right."""
    people, judge_scores = [1.0, 0.0, 0.0, 0.0] * 15, [1.0, 1.0, 0.0, 0.0] * 15
    result = corrected_mean(people, judge_scores, judge_scores * 10)
    assert result.raw.value == 0.5
    assert result.value == pytest.approx(0.25)
    assert result.ci95 is not None
    assert result.ci95[0] < 0.25 < result.ci95[1] < 0.5


def test_a_corrected_mean_is_the_one_computed_by_hand() -> None:
    """The variance of the judge's twenty values is 5 / 19, its covariance with the ten labels 1.6 / 9, n / N is 1."""
    people, judge_scores = [1.0, 1.0, 0.0, 0.0, 1.0] * 2, [1.0, 1.0, 0.0, 0.0, 0.0] * 2
    result = corrected_mean(people, judge_scores, [1.0, 0.0, 1.0, 0.0, 1.0] * 2)
    weight = (1.6 / 9) / (2 * 5 / 19)
    assert result.weight == pytest.approx(weight)
    assert result.value == pytest.approx(weight * 0.6 + 0.6 - weight * 0.4)
    # Four right answers that the judge finds (1 - w), four wrong ones (0), two that it misses (1), four pseudo-answers.
    errors = [1 - weight] * 4 + [0.0] * 4 + [1.0] * 2 + [0.0, 1 - weight, 1.0, -weight]
    spread = weight**2 * (2.4 / 9) / 10 + variance(errors) / 14
    centre = weight * 0.6 + fmean(errors)
    assert result.ci95 == pytest.approx((centre - 2.2622 * sqrt(spread), centre + 2.2622 * sqrt(spread)), abs=1e-4)


def test_a_corrected_mean_and_its_interval_stay_between_0_and_1() -> None:
    result = corrected_mean([1.0, 1.0, 1.0, 1.0, 0.9] * 2, [0.0, 0.1, 0.0, 0.2, 0.0] * 2, [1.0] * 50)
    assert result.value is not None
    assert result.ci95 is not None
    assert 0 <= result.ci95[0] <= result.value <= result.ci95[1] <= 1


def test_too_few_labels_and_labels_of_one_value_give_no_interval() -> None:
    few = corrected_mean([1.0] * 9, [1.0] * 9, [1.0, 0.0] * 9)
    assert (few.value, few.ci95, few.reason) == (None, None, "too_few")
    assert corrected_mean([1.0, 0.0] * 8, [1.0] * 16, []).reason == "too_few"
    same = corrected_mean([1.0] * 10, [1.0, 0.0] * 5, [1.0, 0.0] * 9)
    assert (same.value, same.ci95, same.reason) == (1.0, None, "one_value")


def test_the_interval_covers_the_truth_and_the_raw_mean_does_not() -> None:
    random_ = random.Random(5)
    covered = raw = 0
    for _ in range(300):
        truth = [float(random_.random() < 0.6) for _ in range(260)]
        judge_scores = [float(random_.random() < (0.9 if right else 0.35)) for right in truth]
        result = corrected_mean(truth[:60], judge_scores[:60], judge_scores[60:])
        assert result.ci95 is not None
        assert result.raw.ci95 is not None
        covered += result.ci95[0] <= 0.6 <= result.ci95[1]
        raw += result.raw.ci95[0] <= 0.6 <= result.raw.ci95[1]
    assert covered >= 0.9 * 300
    assert raw <= 0.6 * 300


def units(*names: int) -> Units:
    return Units(tuple((str(name),) for name in names), len(set(names)), "dialogue")


def test_units_of_one_case_each_give_the_same_result_as_no_units() -> None:
    values = [1.0, 0.0] * 10, [1.0, 0.0, 1.0, 1.0] * 5, [1.0, 0.0, 1.0] * 30
    assert corrected_mean_of_units(*values, units(*range(110))) == corrected_mean(*values)


def test_dialogues_change_the_interval_of_a_corrected_mean_and_not_its_value() -> None:
    """20 labelled dialogues of 2 equal turns and 45 others: the errors e of the dialogues and the judge's values vary.

    All turns of a dialogue are alike. So the influences are those of 20 and 45 single cases, and K / (K - 1) = 65 / 64.
    """
    people, judge_scores, others = [1.0, 0.0] * 10, [1.0, 0.0, 1.0, 1.0] * 5, [1.0, 0.0, 1.0] * 15
    twice = [[value for value in side for _ in range(2)] for side in (people, judge_scores, others)]
    result = corrected_mean_of_units(twice[0], twice[1], twice[2], units(*(at // 2 for at in range(130))))
    plain = corrected_mean(twice[0], twice[1], twice[2])
    assert (result.value, result.weight, result.n_labelled, result.n_judged) == (plain.value, plain.weight, 40, 130)
    assert (result.raw.n_units, result.labelled.n_units, result.raw.unit) == (65, 20, "dialogue")
    assert result.value is not None
    assert result.weight is not None
    assert result.ci95 is not None
    errors = [person - result.weight * value for person, value in zip(people, judge_scores, strict=True)]
    of_errors = pvariance(errors) / 20
    of_others = result.weight**2 * pvariance(others) / 45
    half = t_quantile(19) * ((of_errors + of_others) * 65 / 64) ** 0.5
    assert result.ci95 == pytest.approx((result.value - half, result.value + half))


def test_labels_of_too_few_dialogues_give_no_corrected_mean() -> None:
    values = [1.0, 0.0] * 20, [1.0, 0.0] * 20, [1.0, 0.0] * 20
    result = corrected_mean_of_units(*values, units(*(at // 5 for at in range(80))))
    assert (result.value, result.ci95, result.reason) == (None, None, "too_few")


@pytest.mark.parametrize(("right", "wrong"), [(0.95, 0.05), (0.95, 0.3), (0.7, 0.05), (0.5, 0.5), (0.99, 0.6)])
@pytest.mark.parametrize(("n", "truth"), [(10, 0.6), (15, 0.6), (30, 0.6), (15, 0.9)])
def test_few_labels_are_enough_for_an_interval_that_covers_the_truth(
    n: int, truth: float, right: float, wrong: float
) -> None:
    """``right`` and ``wrong`` are the shares of right and of wrong answers that the judge calls right."""
    draw = random.Random(11)
    coverage: list[bool] = []
    while len(coverage) < 300:
        people = [float(draw.random() < truth) for _ in range(20 * n)]
        judge_scores = [float(draw.random() < (right if value else wrong)) for value in people]
        interval = corrected_mean(people[:n], judge_scores[:n], judge_scores[n:]).ci95
        if interval is not None:
            coverage.append(interval[0] <= truth <= interval[1])
    assert fmean(coverage) >= 0.93
