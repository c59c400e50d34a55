"""Agreement of people and judges: kappa, alpha and their intervals."""

from __future__ import annotations

import random

import pytest

from pytest_rageval.analysis.people.agreement import (
    MAX_LEVELS,
    Agreement,
    Estimate,
    Rating,
    agreement,
    levels_of,
    nearest,
)
from pytest_rageval.analysis.people.reliability import alpha
from pytest_rageval.errors import SettingError

BINARY = (0.0, 1.0)


def ratings(*pairs: tuple[float, float]) -> list[Rating]:
    """Return a case for each pair of what people say and what the judge says."""
    return [Rating(at, judge, (person,)) for at, (person, judge) in enumerate(pairs)]


def values(result: Agreement) -> list[float | None]:
    return [result.accuracy.value, result.kappa.value, result.kappa_quadratic.value, result.alpha.value]


def test_kappa_equals_that_of_cohens_example() -> None:
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    result = agreement(ratings(*pairs), BINARY)
    assert (result.n, result.n_cases, result.confusion) == (50, 50, ((15, 10), (5, 20)))
    assert result.accuracy.value == pytest.approx(0.7)
    assert result.kappa.value == pytest.approx(0.4)
    assert result.higher.value == pytest.approx(0.2)
    assert result.lower.value == pytest.approx(0.1)
    for estimate in (result.accuracy, result.kappa, result.alpha, result.higher, result.lower, *sum(result.shares, ())):
        assert estimate.value is not None
        assert estimate.ci95 is not None
        assert estimate.ci95[0] < estimate.value < estimate.ci95[1]


def test_full_agreement_is_1_and_full_disagreement_is_the_minimum() -> None:
    assert values(agreement(ratings((0, 0), (1, 1)), BINARY)) == [1, 1, 1, 1]
    assert values(agreement(ratings((0, 1), (1, 0)), BINARY)) == [0, -1, -1, -0.5]


def test_a_constant_judge_is_as_good_as_chance() -> None:
    result = agreement(ratings((0, 1), (1, 1), (1, 1)), BINARY)
    assert result.kappa.value == 0
    assert result.kappa.reason is None


@pytest.mark.parametrize("intervals", [True, False])
def test_kappa_is_undefined_if_all_give_one_value(intervals: bool) -> None:
    result = agreement(ratings((1, 1), (1, 1), (1, 1)), BINARY, intervals=intervals)
    undefined = Estimate(None, reason="one_value")
    assert (result.kappa, result.kappa_quadratic, result.alpha) == (undefined, undefined, undefined)
    assert result.accuracy == Estimate(1.0, (1.0, 1.0) if intervals else None)


def test_without_ratings_every_estimate_is_unknown() -> None:
    result = agreement([], BINARY)
    none = Estimate(None, reason="no_rating")
    assert (result.n, result.n_cases, result.confusion) == (0, 0, ((0, 0), (0, 0)))
    assert {result.accuracy, result.kappa, result.alpha, result.higher, *sum(result.shares, ())} == {none}


def test_a_single_case_has_no_interval() -> None:
    result = agreement([Rating("q", 1.0, (1.0,)), Rating("q", 0.0, (0.0,))], BINARY)
    assert (result.n, result.n_cases) == (2, 1)
    assert result.kappa == Estimate(1.0)


def test_the_case_is_the_unit_of_the_interval() -> None:
    random_ = random.Random(3)
    pairs = [(float(random_.random() < 0.5), float(random_.random() < 0.5)) for _ in range(100)]
    apart = agreement([Rating(at, judge, (person,)) for at, (person, judge) in enumerate(pairs * 4)], BINARY)
    together = agreement([Rating(at % 100, judge, (person,)) for at, (person, judge) in enumerate(pairs * 4)], BINARY)
    assert values(apart) == pytest.approx(values(together))
    assert together.n_cases == 100
    assert apart.kappa.ci95 is not None
    assert together.kappa.ci95 is not None
    narrow, wide = apart.kappa.ci95, together.kappa.ci95
    assert wide[1] - wide[0] > 1.7 * (narrow[1] - narrow[0])


def test_each_of_several_people_counts_as_a_pair_and_as_a_rater() -> None:
    result = agreement([Rating("a", 1.0, (1.0, 1.0, 0.0)), Rating("b", 0.0, (0.0,))], BINARY)
    assert result.n == 4
    assert result.confusion == ((1, 1), (0, 2))
    assert result.alpha.value == alpha([(1, 1, 1, 0), (0, 0)], BINARY)


def test_distances_are_between_values_and_not_between_ranks() -> None:
    near = agreement(ratings((0, 0), (0.1, 0), (1, 1)), (0.0, 0.1, 1.0))
    far = agreement(ratings((0, 0), (1, 0), (0.1, 0.1)), (0.0, 0.1, 1.0))
    assert near.kappa.value == far.kappa.value
    assert near.kappa_quadratic.value is not None
    assert far.kappa_quadratic.value is not None
    assert near.kappa_quadratic.value > 0.98
    assert far.kappa_quadratic.value < 0.1


def test_label_levels_include_the_ends_of_the_scale_and_are_at_most_20() -> None:
    assert levels_of([1.0, 1.0]) == BINARY
    assert levels_of([0.5], (0.25,)) == (0.0, 0.25, 0.5, 1.0)
    with pytest.raises(SettingError, match=r"labels have 52 different values; agreement needs at most 20"):
        levels_of(number / 51 for number in range(52))
    assert len(levels_of(number / (MAX_LEVELS - 1) for number in range(MAX_LEVELS))) == MAX_LEVELS


def test_the_nearest_level_is_the_higher_of_two() -> None:
    assert [nearest(value, BINARY) for value in (0.0, 0.49, 0.5, 1.0)] == [0, 0, 1, 1]
    assert [nearest(value, (0.0, 0.5, 1.0)) for value in (0.2, 0.25, 0.7, 0.75)] == [0, 0.5, 0.5, 1]


def test_alpha_needs_two_values_of_something() -> None:
    assert alpha([(1.0,), (0.0,)], BINARY) is None
    assert alpha([(1.0, 1.0), (1.0, 1.0)], BINARY) is None
    assert alpha([], BINARY) is None


def test_turns_of_a_dialogue_are_resampled_together() -> None:
    pairs = [(1.0, 1.0)] * 9 + [(1.0, 0.0)] * 4 + [(0.0, 0.0)] * 7
    alone = agreement(ratings(*pairs), BINARY)
    turns = [
        Rating(f"{at}-{turn}", judge, (person,), at) for at, (person, judge) in enumerate(pairs) for turn in "12345"
    ]
    result = agreement(turns, BINARY)
    assert (result.n, result.n_cases, result.n_units) == (100, 100, 20)
    assert (alone.n, alone.n_cases, alone.n_units) == (20, 20, 20)
    assert result.kappa.ci95 == pytest.approx(alone.kappa.ci95)
    assert result.accuracy.ci95 == pytest.approx(alone.accuracy.ci95)
