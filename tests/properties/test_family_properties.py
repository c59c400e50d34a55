"""Laws of p-values that are adjusted for a family of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.analysis.baseline.family import adjust_family
from pytest_rageval.analysis.baseline.paired_tests import PairedTest, paired_test

CHANGES = st.dictionaries(st.integers(0, 9), st.sampled_from([-1.0, -0.5, 0.5, 1.0]), max_size=8)
FAMILIES = st.lists(CHANGES, min_size=1, max_size=5)


def comparison_of(changes: Mapping[Any, float]) -> PairedTest:
    """Return the comparison of ten cases with these changes; positive is worse."""
    worse = [changes.get(unit, 0.0) for unit in range(10)]
    result = paired_test([max(0.0, change) for change in worse], [max(0.0, -change) for change in worse])
    return replace(result, changes=changes)


def p_values(family: Sequence[PairedTest]) -> list[float]:
    return [each.p_value or 0 for each in adjust_family(family, 0.05)]


@settings(max_examples=50, deadline=None)
@given(FAMILIES)
def test_an_adjusted_p_value_is_never_below_the_raw_one(changes: list[dict[int, float]]) -> None:
    family = [comparison_of(each) for each in changes]
    for result, each in zip(family, adjust_family(family, 0.05), strict=True):
        assert each.p_value is not None
        assert result.p_worse is not None
        assert result.p_worse <= each.p_value <= 1
        assert 0 < each.level <= 0.05


@settings(max_examples=50, deadline=None)
@given(FAMILIES)
def test_the_order_of_the_comparisons_changes_nothing(changes: list[dict[int, float]]) -> None:
    family = [comparison_of(each) for each in changes]
    assert p_values(family[::-1]) == p_values(family)[::-1]


@settings(max_examples=50, deadline=None)
@given(FAMILIES, CHANGES)
def test_another_comparison_makes_no_p_value_smaller(changes: list[dict[int, float]], other: dict[int, float]) -> None:
    family = [comparison_of(each) for each in changes]
    assert all(
        more >= less - 1e-12
        for more, less in zip(p_values([*family, comparison_of(other)]), p_values(family), strict=False)
    )


@settings(max_examples=50, deadline=None)
@given(CHANGES, st.integers(2, 5))
def test_a_repeated_comparison_keeps_its_p_value(changes: dict[int, float], times: int) -> None:
    alone = comparison_of(changes)
    assert p_values([alone] * times) == p_values([alone]) * times
