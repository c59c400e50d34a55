"""Laws of means, intervals and quantiles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.analysis.statistics import Interval, bootstrap_interval, clustered_interval, mean_of, quantile
from pytest_rageval.metrics.shared.proportion import wilson_interval

SHARES = st.floats(0, 1)
HITS = st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def width(interval: Interval) -> float:
    return interval[1] - interval[0]


@given(st.lists(SHARES, min_size=1, max_size=40), st.booleans())
def test_an_interval_lies_in_the_range_and_contains_its_mean(values: list[float], binary: bool) -> None:
    mean = mean_of([float(round(v)) for v in values] if binary else values, binary=binary)
    assert mean.n == len(values)
    assert mean.value is not None
    assert 0 <= mean.value <= 1
    assert (mean.ci95 is None) == (mean.n == 1 and not binary)
    if mean.ci95 is not None:
        assert 0 <= mean.ci95[0] <= mean.value <= mean.ci95[1] <= 1


@given(HITS)
def test_the_interval_of_a_rate_contains_it_strictly_unless_it_is_an_end(hits: tuple[int, int]) -> None:
    successes, n = hits
    low, high = wilson_interval(successes, n)
    rate = successes / n
    assert low < rate or rate == low == 0.0
    assert rate < high or rate == high == 1.0


@given(HITS, st.integers(2, 50))
def test_the_interval_of_a_rate_narrows_with_more_cases(hits: tuple[int, int], factor: int) -> None:
    successes, n = hits
    assert width(wilson_interval(successes * factor, n * factor)) < width(wilson_interval(successes, n))


@given(HITS)
def test_one_more_hit_moves_both_ends_up(hits: tuple[int, int]) -> None:
    successes, n = hits
    if successes < n:
        before, after = wilson_interval(successes, n), wilson_interval(successes + 1, n)
        assert before[0] < after[0]
        assert before[1] < after[1]


@given(HITS)
def test_hits_and_misses_have_mirrored_intervals(hits: tuple[int, int]) -> None:
    successes, n = hits
    low, high = wilson_interval(successes, n)
    assert wilson_interval(n - successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(st.lists(st.floats(0.45, 0.55), min_size=2, max_size=12), st.integers(2, 6))
def test_the_interval_of_a_mean_never_widens_if_all_values_are_repeated(values: list[float], factor: int) -> None:
    once, often = mean_of(values, binary=False), mean_of(values * factor, binary=False)
    assert once.ci95 is not None
    assert often.ci95 is not None
    assert width(often.ci95) <= width(once.ci95) + 1e-12


@given(st.lists(SHARES, min_size=1), st.randoms())
def test_the_order_of_the_values_does_not_matter(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert mean_of(shuffled, binary=False) == mean_of(values, binary=False)


@given(st.lists(SHARES, min_size=2, max_size=40))
def test_the_interval_of_negated_values_is_mirrored(values: list[float]) -> None:
    interval, mirrored = (
        bootstrap_interval(values, low=-1.0),
        bootstrap_interval([-value for value in values], low=-1.0),
    )
    assert interval is not None
    assert mirrored == (-interval[1], -interval[0])


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60), SHARES)
def test_a_quantile_equals_that_of_numpy(values: list[float], q: float) -> None:
    value = quantile(values, q)
    assert value == pytest.approx(float(np.quantile(values, q, method="linear")), rel=1e-9, abs=1e-9)
    assert value is not None
    assert min(values) <= value <= max(values)


UNITS = st.lists(st.lists(SHARES, min_size=1, max_size=5), min_size=1, max_size=20)


@given(UNITS, st.booleans(), st.randoms())
def test_an_interval_over_units_lies_in_the_range_contains_its_mean_and_ignores_order(
    units: list[list[float]], binary: bool, random: object
) -> None:
    values = [[float(round(value)) for value in unit] if binary else unit for unit in units]
    interval = clustered_interval(values, binary=binary)
    mean = sum(map(sum, values)) / sum(map(len, values))
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert clustered_interval(shuffled, binary=binary) == pytest.approx(interval, abs=1e-9)
    if interval is not None:
        assert 0 <= interval[0] <= mean + 1e-12
        assert mean - 1e-12 <= interval[1] <= 1


@given(st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=5), min_size=2, max_size=20))
def test_the_interval_of_changes_over_units_is_mirrored_for_negated_changes(units: list[list[float]]) -> None:
    interval = clustered_interval(units, binary=False, low=-1.0)
    mirrored = clustered_interval([[-value for value in unit] for unit in units], binary=False, low=-1.0)
    mean = sum(map(sum, units)) / sum(map(len, units))
    assert interval is not None
    assert mirrored == pytest.approx((-interval[1], -interval[0]), abs=1e-9)
    assert -1 <= interval[0] <= mean + 1e-12
    assert mean - 1e-12 <= interval[1] <= 1
