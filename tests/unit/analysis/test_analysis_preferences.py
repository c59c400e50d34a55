"""Correlations with people's values, and preferences against the difference of a metric."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_rageval.analysis.people.agreement import Estimate
from pytest_rageval.analysis.people.correlations import Correlations, correlations
from pytest_rageval.analysis.people.preferences import PairRating, pair_agreement

RANDOM = np.random.default_rng(5)

signed = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])
pairs = st.lists(st.builds(PairRating, st.integers(0, 5), signed, signed, st.none()), min_size=3, max_size=25)


def scipy_values(one: list[float], other: list[float]) -> tuple[float, float, float]:
    tests = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    return tuple(float(test(one, other).statistic) for test in tests)  # type: ignore[return-value]


def values_of(result: Correlations) -> tuple[float | None, ...]:
    return result.pearson.value, result.spearman.value, result.kendall.value


@pytest.mark.parametrize("n", [3, 20, 300])
@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_the_correlations_are_those_of_scipy(n: int, levels: int) -> None:
    one = [0.0, 1.0, *RANDOM.random(n - 2).tolist()]
    other = [-1.0, 1.0, *(RANDOM.integers(0, levels, n - 2) / levels).tolist()]
    assert values_of(correlations(one, other)) == pytest.approx(scipy_values(one, other), abs=1e-12)


def test_the_intervals_are_those_of_resampled_units() -> None:
    of_unit = RANDOM.normal(size=40)
    one = [float(of_unit[at // 3] + RANDOM.normal() * 0.4) for at in range(120)]
    other = [float(of_unit[at // 3] + RANDOM.normal() * 0.4) for at in range(120)]
    result = correlations(one, other, [at // 3 for at in range(120)])
    generator = np.random.default_rng(8)
    resampled_values = []
    for _ in range(600):
        rows = [3 * unit + at for unit in generator.integers(0, 40, 40) for at in range(3)]
        resampled_values.append(scipy_values([one[row] for row in rows], [other[row] for row in rows]))
    estimates = result.pearson, result.spearman, result.kendall
    for estimate, resampled in zip(estimates, zip(*resampled_values, strict=True), strict=True):
        assert estimate.ci95 == pytest.approx(np.quantile(resampled, (0.025, 0.975)), abs=0.04)
    single = correlations(one, other)
    assert single.pearson.value == result.pearson.value
    assert result.pearson.ci95 is not None
    assert single.pearson.ci95 is not None
    assert result.pearson.ci95[0] < single.pearson.ci95[0]  # fewer independent units, a wider interval


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [([], [], "too_few"), ([1.0, 2.0], [1.0, 2.0], "too_few"), ([1.0, 1.0, 1.0], [0.0, 1.0, 2.0], "one_value")],
)
def test_an_undefined_correlation_has_a_reason(one: list[float], other: list[float], reason: str) -> None:
    none = Estimate(None, reason=reason)
    assert correlations(one, other) == Correlations(len(one), none, none, none)


def test_one_unit_has_no_interval() -> None:
    result = correlations([1.0, 2.0, 3.0], [1.0, 2.0, 3.5], ["u", "u", "u"])
    assert result.spearman == Estimate(1.0)


def test_a_tie_agrees_with_a_tie_only() -> None:
    ratings = [
        PairRating("q1", 1.0, 0.4),  # agree
        PairRating("q2", -1.0, -0.1),  # agree
        PairRating("q3", 0.0, 0.0),  # both tied
        PairRating("q4", 0.0, 0.2),  # tied for people only
        PairRating("q5", 1.0, 0.0),  # tied for the metric only
        PairRating("q6", 0.5, -0.3),  # opposite
    ]
    result = pair_agreement(ratings)
    assert result.agreement.accuracy.value == pytest.approx(3 / 6)
    assert result.n_decided == 3
    assert result.decided.value == pytest.approx(2 / 3)
    assert (result.n_ties, result.n_equal) == (2, 2)
    assert result.agreement.confusion == ((1, 0, 0), (0, 1, 1), (1, 1, 1))
    assert values_of(result.correlations) == pytest.approx(
        scipy_values([each.difference for each in ratings], [each.preference for each in ratings]), abs=1e-12
    )


@settings(deadline=None, max_examples=40)
@given(pairs)
def test_swapping_all_pairs_changes_only_the_signs(ratings: list[PairRating]) -> None:
    swapped = [each._replace(preference=-each.preference, difference=-each.difference) for each in ratings]
    one, other = pair_agreement(ratings), pair_agreement(swapped)
    assert (one.n_decided, one.n_ties, one.n_equal) == (other.n_decided, other.n_ties, other.n_equal)
    assert one.agreement.confusion == tuple(row[::-1] for row in other.agreement.confusion[::-1])
    assert (one.agreement.higher.value, one.agreement.lower.value) == (
        other.agreement.lower.value,
        other.agreement.higher.value,
    )
    for name in ("accuracy", "kappa", "alpha"):
        first, second = getattr(one.agreement, name), getattr(other.agreement, name)
        assert first.reason == second.reason
        assert first.value == (None if second.value is None else pytest.approx(second.value, abs=1e-12))
    for first, second in zip(values_of(one.correlations), values_of(other.correlations), strict=True):
        assert first == (None if second is None else pytest.approx(second, abs=1e-9))


@settings(deadline=None, max_examples=30)
@given(pairs)
def test_a_metric_with_the_preferences_of_people_agrees_fully(ratings: list[PairRating]) -> None:
    result = pair_agreement([each._replace(difference=each.preference / 2) for each in ratings])
    assert result.agreement.accuracy.value == pytest.approx(1.0)
    assert result.decided == replace(result.decided, value=1.0 if result.n_decided else None)
    assert result.correlations.pearson.value in (None, pytest.approx(1.0))
