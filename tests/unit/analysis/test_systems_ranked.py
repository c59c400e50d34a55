"""Ranks, ordinals and the Pareto front: examples calculated by hand and general properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.analysis.systems.pareto import Point, fronts
from pytest_rageval.analysis.systems.ranks import TIES, ordinal, ranks

VALUES = {"a": 0.9, "b": 0.7, "c": 0.7, "d": None, "e": 0.1}


def test_ties_get_the_mean_the_smallest_or_the_dense_rank() -> None:
    assert ranks(VALUES) == {"a": 1, "b": 2.5, "c": 2.5, "d": None, "e": 4}
    assert ranks(VALUES, ties="min") == {"a": 1, "b": 2, "c": 2, "d": None, "e": 4}
    assert ranks(VALUES, ties="dense") == {"a": 1, "b": 2, "c": 2, "d": None, "e": 3}
    assert ranks(VALUES, higher_is_better=False)["e"] == 1


def test_ranks_are_shown_as_ordinals() -> None:
    ordinals = [ordinal(rank) for rank in (1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111, 1.5, None)]
    assert ordinals == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "101st", "111th", "1.5", "–",
    ]  # fmt: skip


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.sampled_from(TIES))
def test_a_better_value_has_a_smaller_rank_and_mean_ranks_have_a_fixed_sum(numbers: list[int], ties: str) -> None:
    values: dict[str, float | None] = {str(at): value / 5 for at, value in enumerate(numbers)}
    result = ranks(values, ties=ties)  # type: ignore[arg-type]
    for one, rank in result.items():
        for other, other_rank in result.items():
            assert rank is not None
            assert other_rank is not None
            assert (values[one] > values[other]) == (rank < other_rank)  # type: ignore[operator]
    if ties == "average":
        assert sum(rank or 0 for rank in result.values()) == pytest.approx(len(numbers) * (len(numbers) + 1) / 2)


POINTS = {
    "good": Point(0.9, 4.0, 0.02),
    "quick": Point(0.8, 1.0, 0.01),
    "worse": Point(0.7, 2.0, 0.01),
    "free": Point(0.7, 2.0, None),
    "same": Point(0.8, 1.0, 0.01),
    "lost": Point(None, 0.1, 0.0),
}


def test_fronts_names_the_systems_that_dominate_each_system() -> None:
    assert fronts(POINTS) == {
        "good": (), "quick": (), "worse": ("quick", "same"), "free": ("quick", "same"), "same": (), "lost": (),
    }  # fmt: skip
    assert fronts({name: POINTS[name] for name in ("good", "worse")}, higher_is_better=False)["good"] == ("worse",)


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=2),
        st.builds(Point, st.integers(0, 4).map(lambda n: n / 4), st.integers(1, 4).map(float), st.just(0.0)),
        min_size=1,
    )
)
def test_some_system_is_on_the_front_and_none_dominates_itself(points: dict[str, Point]) -> None:
    dominators = fronts(points)
    assert any(not by for by in dominators.values())
    assert all(name not in by for name, by in dominators.items())
    for name, by in dominators.items():
        assert all(name not in dominators[other] for other in by)
