"""Delta debugging (`ddmin`), compared with brute force."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.generation.shrinking.ddmin import Minimal, NoMoreTestsError, ddmin, fewest_additions

Part = tuple[str, ...]


def test_ddmin_finds_the_one_wrong_passage_among_five() -> None:
    tests: list[Part] = []

    def breaks(part: Part) -> bool:
        tests.append(part)
        return "w0" in part

    assert ddmin(["p0", "n0", "w0", "n1", "n2"], breaks) == Minimal(("w0",), True)
    assert len(tests) == len(set(tests)) <= 8
    assert tests[:2] == [("p0", "n0", "w0", "n1", "n2"), ()]


def test_a_whole_that_does_not_break_is_refused() -> None:
    with pytest.raises(ValueError, match="the whole does not break"):
        ddmin("ab", lambda part: False)


def test_the_smallest_part_is_empty_if_nothing_is_needed_to_break() -> None:
    assert ddmin("ab", lambda part: True) == Minimal((), True)
    assert ddmin("", lambda part: True) == Minimal((), True)


def test_a_stopped_search_returns_its_smallest_part_so_far() -> None:
    budget = [6]

    def breaks(part: Part) -> bool:
        budget[0] -= 1
        if budget[0] < 0:
            raise NoMoreTestsError
        return {"c", "g"} <= set(part)

    assert ddmin("abcdefgh", breaks) == Minimal(tuple("abcdefgh"), False)
    budget[0] = 9
    smallest = ddmin("abcdefgh", breaks)
    assert set("cg") <= set(smallest.items) < set("abcdefgh")
    assert not smallest.is_minimal


def test_the_fewest_additions_come_first_in_order() -> None:
    assert fewest_additions(["p0", "p1", "p2"], lambda part: "p1" in part) == ("p1",)
    assert fewest_additions(["p0", "p1", "p2"], lambda part: {"p0", "p2"} <= set(part)) == ("p0", "p2")
    assert fewest_additions(["p0", "p1"], lambda part: False) is None
    assert fewest_additions([], lambda part: True) is None


def test_a_stopped_search_for_additions_returns_none() -> None:
    def helps(part: Part) -> bool:
        raise NoMoreTestsError

    assert fewest_additions(["p0"], helps) is None


@given(st.integers(0, 6), st.sets(st.integers(0, 63)))
def test_the_smallest_part_is_1_minimal_for_any_failure(n: int, broken: set[int]) -> None:
    """Compared with brute force: any set of parts may break, even a non-monotone one."""
    items = tuple(range(n))
    parts = [part for count in range(n + 1) for part in combinations(items, count)]
    breaking = {part for at, part in enumerate(parts) if at in broken} | {items}
    smallest = ddmin(items, breaking.__contains__)
    assert smallest.items in breaking
    assert smallest.is_minimal
    for at in range(len(smallest.items)):
        without = (*smallest.items[:at], *smallest.items[at + 1 :])
        assert without not in breaking
    if () in breaking:
        assert smallest.items == ()
    assert ddmin(items, breaking.__contains__) == smallest


@given(st.integers(1, 6), st.data())
def test_a_monotone_failure_gives_one_of_the_smallest_causes(n: int, data: st.DataObject) -> None:
    items = tuple(range(n))
    causes = data.draw(st.sets(st.frozensets(st.sampled_from(items), min_size=1), min_size=1, max_size=3))
    smallest = ddmin(items, lambda part: any(cause <= set(part) for cause in causes))
    assert frozenset(smallest.items) in causes
    assert not any(cause < set(smallest.items) for cause in causes)
