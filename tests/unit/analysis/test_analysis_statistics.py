"""Means, confidence intervals and quantiles."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from pytest_rageval.analysis.statistics import (
    Mean,
    bonett_price_interval,
    bootstrap_interval,
    mean_of,
    quantile,
    t_quantile,
)
from pytest_rageval.metrics.shared.proportion import wilson_interval

# scipy 1.17.1: python -c "from scipy.stats import t; print(*(f'{t.ppf(.975, df):.6g}' for df in range(1, 201)))"
T_975 = (
    12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814, 2.20099, 2.17881,
    2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596, 2.07961, 2.07387, 2.06866, 2.0639,
    2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227, 2.03951, 2.03693, 2.03452, 2.03224, 2.03011, 2.02809,
    2.02619, 2.02439, 2.02269, 2.02108, 2.01954, 2.01808, 2.01669, 2.01537, 2.0141, 2.0129, 2.01174, 2.01063,
    2.00958, 2.00856, 2.00758, 2.00665, 2.00575, 2.00488, 2.00404, 2.00324, 2.00247, 2.00172, 2.001, 2.0003,
    1.99962, 1.99897, 1.99834, 1.99773, 1.99714, 1.99656, 1.99601, 1.99547, 1.99495, 1.99444, 1.99394, 1.99346,
    1.993, 1.99254, 1.9921, 1.99167, 1.99125, 1.99085, 1.99045, 1.99006, 1.98969, 1.98932, 1.98896, 1.98861,
    1.98827, 1.98793, 1.98761, 1.98729, 1.98698, 1.98667, 1.98638, 1.98609, 1.9858, 1.98552, 1.98525, 1.98498,
    1.98472, 1.98447, 1.98422, 1.98397, 1.98373, 1.9835, 1.98326, 1.98304, 1.98282, 1.9826, 1.98238, 1.98217,
    1.98197, 1.98177, 1.98157, 1.98137, 1.98118, 1.98099, 1.98081, 1.98063, 1.98045, 1.98027, 1.9801, 1.97993,
    1.97976, 1.9796, 1.97944, 1.97928, 1.97912, 1.97897, 1.97882, 1.97867, 1.97852, 1.97838, 1.97824, 1.9781,
    1.97796, 1.97783, 1.97769, 1.97756, 1.97743, 1.9773, 1.97718, 1.97705, 1.97693, 1.97681, 1.97669, 1.97658,
    1.97646, 1.97635, 1.97623, 1.97612, 1.97601, 1.97591, 1.9758, 1.97569, 1.97559, 1.97549, 1.97539, 1.97529,
    1.97519, 1.97509, 1.975, 1.9749, 1.97481, 1.97472, 1.97462, 1.97453, 1.97445, 1.97436, 1.97427, 1.97419,
    1.9741, 1.97402, 1.97393, 1.97385, 1.97377, 1.97369, 1.97361, 1.97353, 1.97346, 1.97338, 1.97331, 1.97323,
    1.97316, 1.97308, 1.97301, 1.97294, 1.97287, 1.9728, 1.97273, 1.97266, 1.9726, 1.97253, 1.97246, 1.9724,
    1.97233, 1.97227, 1.9722, 1.97214, 1.97208, 1.97202, 1.97196, 1.9719,
)  # fmt: skip


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17
        # (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # scipy.stats.binomtest(successes, n).proportion_ci(0.95, "wilson")  (scipy 1.17.1)
        (0, 1, 0.0, 0.793451),
        (1, 1, 0.206549, 1.0),
        (0, 10, 0.0, 0.277533),
        (1, 10, 0.017876, 0.404150),
        (5, 10, 0.236593, 0.763407),
        (10, 10, 0.722467, 1.0),
        (85, 100, 0.767164, 0.906940),
        (299, 300, 0.981363, 0.999411),
    ],
)
def test_wilson_gives_the_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    digits = 4 if n in (20, 29, 148, 263) else 6
    interval = wilson_interval(successes, n)
    assert (round(interval[0], digits), round(interval[1], digits)) == (low, high)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 29, 300, 9_999])
def test_a_rate_of_zero_or_one_is_an_end_of_its_interval(n: int) -> None:
    assert wilson_interval(0, n)[0] == 0.0
    assert wilson_interval(n, n)[1] == 1.0
    assert 0.0 < wilson_interval(0, n)[1] < 1.0


def test_t_quantiles_match_scipy_up_to_200_degrees_of_freedom() -> None:
    assert len(T_975) == 200
    for df, expected in enumerate(T_975, 1):
        assert t_quantile(df) == pytest.approx(expected, rel=5e-5), df


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        # scipy.stats.t.interval(0.95, n - 1, loc=fmean(values), scale=scipy.stats.sem(values))  (scipy 1.17.1)
        ([0.5, 0.6, 0.7], 0.351586, 0.848414),
        ([0.2, 0.4, 0.6, 0.8], 0.089131, 0.910869),
        ([0.0, 1.0], 0.0, 1.0),  # clipped from (-5.9, 6.9)
    ],
)
def test_the_bootstrap_of_evenly_spaced_values_is_students_interval_within_the_range(
    values: list[float], low: float, high: float
) -> None:
    assert bootstrap_interval(values) == pytest.approx((low, high), abs=1e-4)
    assert mean_of(values, binary=False).ci95 == bootstrap_interval(values)


SKEWED = {
    "half are 1": lambda draw: max(0.0, min(1.0, 2 * draw)),
    "near 0": lambda draw: draw**4,
    "a tenth is not 0": lambda draw: max(0.0, 10 * draw - 9),
}


@pytest.mark.parametrize("shape", SKEWED.values(), ids=SKEWED)
@pytest.mark.parametrize("n", [100, 400])
def test_the_bootstrap_agrees_with_scipy_resamples(shape: Callable[[float], float], n: int) -> None:
    draw = random.Random(n)
    values = [shape(draw.random()) for _ in range(n)]
    reference = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", random_state=np.random.default_rng(1)
    )
    low, high = reference.confidence_interval
    interval = bootstrap_interval(values)
    assert interval is not None
    assert interval == pytest.approx((low, high), abs=0.05 * (high - low))
    mean = fmean(values)
    assert (interval[1] - mean > mean - interval[0]) == (high - mean > mean - low)


@pytest.mark.parametrize(("n", "minimum"), [(5, 0.91), (10, 0.94), (30, 0.94), (150, 0.94)])
def test_the_interval_usually_covers_the_true_mean_of_graded_scores(n: int, minimum: float) -> None:
    draw = random.Random(n)

    def score() -> float:
        return 0.0 if draw.random() < 0.4 else 1.0 if draw.random() < 0.3 else draw.betavariate(2, 2)

    covered = 0
    for _ in range(1_000):
        interval = bootstrap_interval([score() for _ in range(n)])
        assert interval is not None
        covered += interval[0] <= 0.6 * (0.3 + 0.7 * 0.5) <= interval[1]
    assert minimum <= covered / 1_000 <= 0.99


def test_the_mean_of_no_values_is_missing() -> None:
    assert mean_of([], binary=True) == mean_of([], binary=False) == Mean(None, 0, None)
    assert bootstrap_interval([]) is None


def test_one_value_has_an_interval_only_if_it_is_binary() -> None:
    assert mean_of([0.25], binary=False) == Mean(0.25, 1, None)
    assert mean_of([1.0], binary=True) == Mean(1.0, 1, wilson_interval(1, 1))


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 0.7, 1.0])
@pytest.mark.parametrize("n", [2, 3, 7, 100])
def test_equal_values_have_the_interval_of_a_rate(value: float, n: int) -> None:
    mean = mean_of([value] * n, binary=False)
    assert mean.value == pytest.approx(value, rel=1e-15)
    assert mean.ci95 == pytest.approx(wilson_interval(value * n, n), rel=1e-9)
    jittered = [value + at * 1e-15 for at in range(n)]
    assert bootstrap_interval(jittered) == pytest.approx(mean.ci95, rel=1e-9)


@pytest.mark.parametrize("value", [-1.0, -0.25, 0.0, 1.0])
@pytest.mark.parametrize("n", [2, 19])
def test_equal_differences_have_a_scaled_interval_of_paired_rates(value: float, n: int) -> None:
    interval = bootstrap_interval([value] * n, low=-1.0)
    assert interval is not None
    step = abs(value) or 1.0
    ends = bonett_price_interval(n * (value > 0), n * (value < 0), n)
    assert interval == pytest.approx((step * ends[0], step * ends[1]))
    assert interval[0] <= value <= interval[1]
    assert (interval[0] > 0 or interval[1] < 0) == (n == 19 and value != 0)  # the sign permutation test agrees


@pytest.mark.parametrize("value", [1 + 1e-12, -1e-12])
def test_equal_values_outside_their_range_by_rounding_are_accepted(value: float) -> None:
    assert bootstrap_interval([value] * 3) == wilson_interval(3 * round(value), 3)


def test_two_pairs_that_both_improve_may_be_chance() -> None:
    low, high = bonett_price_interval(2, 0, 2)
    assert (low, high) == pytest.approx((0.5 - 1.959964 * (0.75 / 4) ** 0.5, 1.0))


def test_a_mean_has_no_rounding_error() -> None:
    assert mean_of([0.1] * 1_000, binary=False).value == 0.1
    assert mean_of([1.0] * 7 + [0.0] * 3, binary=True).value == 0.7


def test_a_rate_is_the_exact_fraction() -> None:
    for hits in range(301):
        assert mean_of([1.0] * hits + [0.0] * (300 - hits), binary=True).value == float(Fraction(hits, 300))


@pytest.mark.parametrize(
    ("values", "q", "expected"),
    [
        ([], 0.5, None),
        ([3.0], 0.95, 3.0),
        ([1.0, 2.0], 0.5, 1.5),
        ([4.0, 1.0, 3.0, 2.0], 0.5, 2.5),
        ([1.0, 2.0, 3.0], 0.5, 2.0),
        ([float(value) for value in range(101)], 0.95, 95.0),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 0.0, 1.0),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 1.0, 5.0),
    ],
)
def test_a_quantile_interpolates_between_its_neighbours(values: list[float], q: float, expected: float | None) -> None:
    before = list(values)
    assert quantile(values, q) == expected
    assert values == before
