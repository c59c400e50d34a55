"""Laws of comparing two runs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.paired_tests import paired_test
from pytest_rageval.analysis.baseline.power import cases_needed, least_drop, power_of

RATES = st.sampled_from([0.0, 1.0])
THIRDS = st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0])
GRADED = st.floats(0, 1)


def runs(values: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[list[float], list[float]]]:
    pairs = st.lists(st.tuples(values, values), min_size=1, max_size=30)
    return pairs.map(lambda cases: ([old for old, _ in cases], [new for _, new in cases]))


RUNS = st.one_of([runs(RATES), runs(THIRDS), runs(GRADED)])


@given(RUNS, st.booleans())
def test_a_run_compared_with_itself_has_no_change(run_pair: tuple[list[float], list[float]], up: bool) -> None:
    result = paired_test(run_pair[0], run_pair[0], higher_is_better=up)
    assert (result.delta, result.p_value, result.p_worse, result.n_worse, result.n_better) == (0, 1, 1, 0, 0)
    if result.ci95 is not None:
        assert result.ci95[0] <= 0 <= result.ci95[1]


@given(RUNS)
def test_swapping_the_sides_flips_the_signs(run_pair: tuple[list[float], list[float]]) -> None:
    one, other = paired_test(*run_pair), paired_test(*reversed(run_pair))
    assert one.delta is not None
    assert other.delta == -one.delta
    assert (other.baseline, other.value) == (one.value, one.baseline)
    assert (other.n_worse, other.n_better) == (one.n_better, one.n_worse)
    assert (other.p_value, other.least_drop, other.step) == (one.p_value, one.least_drop, one.step)
    assert other.ci95 == (None if one.ci95 is None else (-one.ci95[1], -one.ci95[0]))
    assert other.changing == one.changing
    less = paired_test(*reversed(run_pair), higher_is_better=False)
    assert (less.p_worse, less.n_worse, less.n_better) == (one.p_worse, one.n_worse, one.n_better)


@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_the_cases_changes_nothing(
    run_pair: tuple[list[float], list[float]], order: random.Random
) -> None:
    cases = list(zip(*run_pair, strict=True))
    order.shuffle(cases)
    assert paired_test([old for old, _ in cases], [new for _, new in cases]) == paired_test(*run_pair)


@given(RUNS, st.sampled_from([1, 5, 80]))
def test_probabilities_are_above_zero_and_the_interval_contains_the_difference(
    run_pair: tuple[list[float], list[float]], cells: int
) -> None:
    result = paired_test(*run_pair, cells=cells)
    assert result.delta is not None
    assert result.p_value is not None
    assert result.p_worse is not None
    assert 0 < result.p_value <= 1
    assert 0 < result.p_worse <= 1
    assert result.delta == pytest.approx((result.value or 0) - (result.baseline or 0))
    assert result.least_drop is None or 0 < result.least_drop <= 1
    if result.ci95 is not None:
        assert -1 <= result.ci95[0] <= result.delta + 1e-12
        assert result.delta - 1e-12 <= result.ci95[1] <= 1


@given(runs(RATES))
def test_the_two_sided_p_is_twice_the_one_sided_p_of_the_change(
    run_pair: tuple[list[float], list[float]],
) -> None:
    down, up = paired_test(*run_pair), paired_test(*reversed(run_pair))
    assert down.p_worse is not None
    assert up.p_worse is not None
    assert down.p_value == pytest.approx(min(1.0, 2 * min(down.p_worse, up.p_worse)))


@given(st.lists(st.none() | st.floats(0, 1), max_size=40), st.randoms(use_true_random=False))
def test_a_correction_lowers_no_p_value_and_keeps_order(p_values: list[float | None], order: random.Random) -> None:
    strict = holm(p_values)
    tested = [at for at, p in enumerate(p_values) if p is not None]
    assert [at for at, p in enumerate(strict) if p is not None] == tested
    pairs = [(p_values[at] or 0.0, strict[at] or 0.0) for at in tested]
    assert all(p <= h + 1e-12 <= 1 + 1e-12 for p, h in pairs)
    assert [h for _, h in sorted(pairs)] == sorted(h for _, h in pairs)
    places = list(range(len(p_values)))
    order.shuffle(places)
    assert holm([p_values[at] for at in places]) == [strict[at] for at in places]


SHARES = st.floats(0.1, 1).map(lambda share: round(share, 3))
SLOW = settings(deadline=None, max_examples=40)


@SLOW
@given(SHARES, st.floats(0, 1), st.floats(0.1, 1), st.sampled_from([0.05, 0.01, 0.05 / 80]))
def test_the_number_of_needed_cases_detects_the_drop(drop: float, changing: float, step: float, alpha: float) -> None:
    needed = cases_needed(drop * step, changing=changing, step=step, alpha=alpha)
    assert needed is not None
    detectable = least_drop(needed, changing=changing, step=step, alpha=alpha)
    assert detectable is not None
    assert detectable <= drop * step * (1 + 1e-3)
    assert power_of(needed - 1, drop, changing=changing, alpha=alpha) < 0.8


@SLOW
@given(SHARES, SHARES, st.floats(0, 1))
def test_a_smaller_drop_needs_no_fewer_cases(one: float, other: float, changing: float) -> None:
    small, great = (cases_needed(drop, changing=changing) for drop in sorted((one, other)))
    assert small is not None
    assert great is not None
    assert small >= great


@given(st.integers(5, 400), SHARES, SHARES, st.floats(0, 1))
def test_a_greater_drop_is_detected_at_least_as_often(n: int, one: float, other: float, changing: float) -> None:
    less, more = (power_of(n, drop, changing=changing) for drop in sorted((one, other)))
    assert less <= more + 1e-6


@given(RUNS, st.data())
def test_units_of_one_case_each_give_the_same_result_as_no_units(
    run_pair: tuple[list[float], list[float]], data: st.DataObject
) -> None:
    names = data.draw(st.permutations(range(len(run_pair[0]))))
    assert replace(paired_test(*run_pair, units=names), changes={}) == paired_test(*run_pair)


@given(RUNS, st.lists(st.integers(0, 5), min_size=30, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_cases_in_units_changes_nothing(
    run_pair: tuple[list[float], list[float]], units: list[int], order: random.Random
) -> None:
    cases = list(zip(*run_pair, units, strict=False))
    result = paired_test(*run_pair, units=units[: len(cases)])
    order.shuffle(cases)
    old, new, names = zip(*cases, strict=True)
    again = paired_test(old, new, units=names)
    assert replace(again, ci95=None) == replace(result, ci95=None)
    assert again.ci95 == pytest.approx(result.ci95)
    assert result.p_worse is not None
    assert result.p_worse >= 2 ** -len(result.changes)
