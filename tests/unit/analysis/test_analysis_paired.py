"""Tests of two runs over the same cases, checked against scipy."""

from __future__ import annotations

import math
import random
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.paired_tests import PairedTest, paired_test
from pytest_rageval.analysis.baseline.power import chance_share, least_drop, power_of
from pytest_rageval.analysis.statistics import bootstrap_interval


def rates(n: int, worse: int, better: int) -> tuple[list[float], list[float]]:
    """Return 0/1 values of ``n`` cases: some fall, some rise, and the others stay, half of them at 1."""
    same = [float(at % 2) for at in range(n - worse - better)]
    return [1.0] * worse + [0.0] * better + same, [0.0] * worse + [1.0] * better + same


def graded(n: int, by: float, seed: int = 0) -> tuple[list[float], list[float]]:
    """Return graded values of ``n`` cases that all change, on average by ``by``."""
    draw = random.Random(seed)
    before = [draw.uniform(0.4, 0.6) for _ in range(n)]
    return before, [value + by + draw.gauss(0, 0.05) for value in before]


def share_of(p: float | None) -> float:
    assert p is not None
    return p


@pytest.mark.parametrize(("worse", "better"), [(12, 4), (4, 12), (5, 0), (0, 5), (7, 7), (1, 0), (80, 41), (700, 690)])
def test_0_1_values_get_mcnemars_exact_test(worse: int, better: int) -> None:
    result = paired_test(*rates(2_000, worse, better))
    changed = worse + better
    assert (result.n_pairs, result.n_worse, result.n_better) == (2_000, worse, better)
    assert result.p_value == pytest.approx(stats.binomtest(worse, changed).pvalue, rel=1e-9)
    assert result.p_worse == pytest.approx(stats.binomtest(worse, changed, alternative="greater").pvalue, rel=1e-9)
    assert result.delta == pytest.approx((better - worse) / 2_000)
    assert (result.step, result.changing) == (1, 2 * (min(worse, better) + 2) / 2_004)


def test_a_run_compared_with_itself_has_no_change_and_a_smallest_detectable_drop() -> None:
    result = paired_test(*rates(100, 0, 0))
    assert (result.delta, result.p_value, result.p_worse, result.n_worse, result.n_better) == (0, 1, 1, 0, 0)
    assert power_of(100, share_of(result.least_drop), changing=4 / 104) == pytest.approx(0.8, abs=1e-4)
    assert result.ci95 is not None
    assert result.ci95[0] == -result.ci95[1] < -0.01


def test_the_interval_of_0_1_values_is_that_of_bonett_and_price() -> None:
    result = paired_test(*rates(200, 20, 6))
    up, down = 7 / 202, 21 / 202
    half = stats.norm.ppf(0.975) * math.sqrt((up + down - (up - down) ** 2) / 202)
    assert result.ci95 == pytest.approx((up - down - half, up - down + half))


def test_graded_values_get_the_bootstrap_interval_of_their_changes() -> None:
    before, after = graded(50, -0.02)
    result = paired_test(before, after)
    assert result.ci95 == bootstrap_interval([new - old for old, new in zip(before, after, strict=True)], low=-1.0)
    assert result.ci95 is not None
    assert result.delta is not None
    assert result.ci95[0] < result.delta < result.ci95[1] < 0


@pytest.mark.parametrize("n", [2, 5, 12])
@pytest.mark.parametrize("by", [-0.05, 0.0, 0.03])
def test_few_changes_are_permuted_exhaustively(n: int, by: float) -> None:
    before, after = graded(n, by, seed=n)
    result = paired_test(before, after)
    for alternative, p_value in (("two-sided", result.p_value), ("less", result.p_worse)):
        expected = stats.permutation_test(
            (after, before), lambda x, y: np.mean(x - y), permutation_type="samples", alternative=alternative
        )
        assert p_value == pytest.approx(expected.pvalue)
    assert min(share_of(result.p_value), share_of(result.p_worse)) >= 0.5**n


@pytest.mark.parametrize(("n", "by"), [(14, -0.02), (14, 0.02), (14, -0.005)])
def test_many_changes_are_permuted_at_random(n: int, by: float) -> None:
    before, after = graded(n, by, seed=n)
    result = paired_test(before, after)
    for alternative, p_value in (("two-sided", result.p_value), ("less", result.p_worse)):
        exact = stats.permutation_test(
            (after, before),
            lambda x, y, axis=-1: np.mean(x - y, axis=axis),
            permutation_type="samples", alternative=alternative, n_resamples=2**n, vectorized=True,
        ).pvalue  # fmt: skip
        draws = 2_000 if exact > 0.1 else 10_000
        assert p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / draws) + 1 / draws)


def test_the_mean_of_repeats_is_a_graded_value() -> None:
    before, after = [1.0, 1.0, 2 / 3, 1.0, 1 / 3, 1.0], [2 / 3, 1 / 3, 2 / 3, 0.0, 0.0, 1.0]
    result = paired_test(before, after)
    assert (result.n_worse, result.n_better, result.p_worse, result.p_value) == (4, 0, 1 / 16, 1 / 8)
    squares = [sum(x * x for x in side) for side in (before, after)]
    assert result.step == pytest.approx(sum(squares) / (sum(before) + sum(after)))
    assert result.changing == pytest.approx(2 * 2 / 10)  # none became better


def test_a_difference_by_rounding_does_not_count_as_a_change() -> None:
    result = paired_test([0.1 + 0.2, 0.5], [0.3, 0.5])
    assert (result.n_worse, result.n_better, result.p_value, result.changing) == (0, 0, 1, 4 / 6)


def test_a_metric_with_lower_is_better_is_worse_when_it_rises() -> None:
    before, after = rates(300, 20, 5)
    falls, rises = paired_test(before, after), paired_test(after, before, higher_is_better=False)
    assert falls.p_worse == rises.p_worse == pytest.approx(stats.binomtest(20, 25, alternative="greater").pvalue)
    assert (rises.n_worse, rises.n_better, rises.delta) == (20, 5, 15 / 300)
    assert share_of(paired_test(before, after, higher_is_better=False).p_worse) > 0.99


@pytest.mark.parametrize("cells", [1, 80])
def test_a_clear_drop_stays_significant_after_the_correction_over_cells(cells: int) -> None:
    result = paired_test(*graded(60, -0.05), cells=cells)
    assert share_of(holm([result.p_worse, *[0.9] * (cells - 1)])[0]) <= 0.05


def test_a_small_drop_over_many_graded_values_is_significant() -> None:
    result = paired_test(*graded(11_400, -0.003))
    assert 0 < share_of(result.p_worse) < 0.01
    assert result == paired_test(*graded(11_400, -0.003))


def test_the_smallest_detectable_drop_of_graded_values_is_that_of_cases_that_fall_to_0() -> None:
    before, after = graded(300, 0.0)
    result = paired_test(before, after)
    assert result.step == pytest.approx(0.5, abs=0.02)
    assert result.changing == pytest.approx((300 * 0.05**2 / 0.5**2 + 4) / 304, rel=0.2)
    assert result.least_drop == least_drop(300, changing=result.changing, step=result.step)
    rarely = paired_test([0.3] * 300, [0.3] * 300, higher_is_better=False)
    assert rarely.step == pytest.approx(0.7)
    assert rarely.changing == 4 / 304
    assert rarely.least_drop == pytest.approx(0.7 * share_of(least_drop(300, changing=4 / 304)))


def test_the_smallest_detectable_drop_does_not_grow_because_the_system_got_worse() -> None:
    same, worse = paired_test(*rates(60, 0, 0)), paired_test(*rates(60, 13, 0))
    assert (worse.delta, worse.least_drop) == (-13 / 60, same.least_drop)
    assert share_of(worse.least_drop) == pytest.approx(0.1553, abs=1e-4)
    flat, fell = paired_test([0.8] * 60, [0.8] * 60), paired_test([0.8] * 60, [0.5] * 60)
    assert fell.changing == flat.changing
    assert share_of(fell.least_drop) < share_of(flat.least_drop)  # each case can lose only 0.5


def test_the_share_of_chance_changes_follows_the_rarer_direction() -> None:
    assert chance_share([1, 1, 1, -1, -1], 56) == 2 * (2 + 2) / 60
    assert chance_share([-1, -1, -1, 1, 1], 56) == 2 * (2 + 2) / 60
    assert chance_share([1] * 13, 60) == chance_share([], 60) == 0.0625
    assert chance_share([0.5, -0.5, -0.5], 6) == 2 * (0.25 + 2) / 10  # by the squares of the changes
    assert chance_share([], 0) == 1


def test_the_smallest_detectable_drop_depends_on_the_level() -> None:
    result = paired_test(*rates(300, 10, 10))
    assert result.at_level(0.05) == result
    assert result.at_level(0.05 / 80) == paired_test(*rates(300, 10, 10), cells=80)


def test_a_drop_within_many_cells_must_be_greater_to_be_detected() -> None:
    one, many = paired_test(*rates(300, 10, 10)), paired_test(*rates(300, 10, 10), cells=80)
    assert one.p_value == many.p_value
    assert share_of(one.least_drop) < share_of(many.least_drop)


@pytest.mark.parametrize("n", [1, 4])
def test_fewer_cases_than_a_test_needs_have_no_smallest_detectable_drop(n: int) -> None:
    result = paired_test(*rates(n, n, 0))
    assert (result.delta, result.p_worse, result.least_drop) == (-1, 0.5**n, None)


def test_without_pairs_nothing_is_known() -> None:
    assert paired_test([], []) == PairedTest(0, None, None, None, None, None, None, 0, 0, None)


def test_0_1_values_are_compared_without_numpy_and_scipy() -> None:
    code = (
        "import sys; from pytest_rageval.analysis.baseline.paired_tests import paired_test; "
        "paired_test([1.0] * 99 + [0.0], [0.0] * 20 + [1.0] * 80); "
        "sys.exit(bool({'numpy', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_sums_of_units_change_their_signs_together() -> None:
    """Four dialogues of two turns change by -1, -1, 0 (one turn better, one worse) and +1: sums -2, -1, 0, 1.

    Three units change. Of the 8 ways to sign 2, 1 and 1, one reaches a sum of 4 and two reach 2: the probability of a
    fall of 2 or more is 3 / 8.
    """
    before = [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    after = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    result = paired_test(before, after, units=["a", "a", "b", "b", "c", "c", "d", "d"])
    assert result.changes == {"a": 2.0, "b": 1.0, "d": -1.0}
    assert (result.n_pairs, result.n_units, result.n_worse, result.n_better) == (8, 4, 4, 2)
    assert result.p_worse == 3 / 8
    assert result.delta == -0.25


def test_dialogues_that_change_completely_are_mcnemars_pairs() -> None:
    before, after = rates(20, 6, 1)
    result = paired_test([v for v in before for _ in range(5)], [v for v in after for _ in range(5)],
                  units=[at for at in range(20) for _ in range(5)])  # fmt: skip
    alone = paired_test(before, after)
    assert (result.p_worse, result.p_value, result.delta) == (alone.p_worse, alone.p_value, alone.delta)
    assert (result.least_drop, result.changing, result.step) == (alone.least_drop, alone.changing, alone.step)
    assert (result.n_pairs, result.n_units, alone.n_units) == (100, 20, 20)


def test_a_change_is_positive_if_a_unit_became_worse() -> None:
    assert paired_test([0.0], [1.0], units=["a"]).changes == {"a": -1.0}
    assert paired_test([0.0], [1.0], units=["a"], higher_is_better=False).changes == {"a": 1.0}
    assert paired_test([0.0], [1.0]).changes == {}
