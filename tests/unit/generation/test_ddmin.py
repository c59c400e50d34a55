"""Delta debugging against brute force."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.generation.shrinking.ddmin import Minimal, NoMoreTestsError, ddmin, fewest_additions

Part = tuple[str, ...]


def test_one_liar_among_five() -> None:
    asked: list[Part] = []

    def breaks(part: Part) -> bool:
        asked.append(part)
        return "w0" in part

    assert ddmin(["p0", "n0", "w0", "n1", "n2"], breaks) == Minimal(("w0",), True)
    assert len(asked) == len(set(asked)) <= 8
    assert asked[:2] == [("p0", "n0", "w0", "n1", "n2"), ()]


def test_a_whole_that_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="the whole does not break"):
        ddmin("ab", lambda part: False)


def test_what_breaks_without_anything_is_empty() -> None:
    assert ddmin("ab", lambda part: True) == Minimal((), True)
    assert ddmin("", lambda part: True) == Minimal((), True)


def test_a_search_that_is_stopped_gives_what_it_has() -> None:
    left = [6]

    def breaks(part: Part) -> bool:
        left[0] -= 1
        if left[0] < 0:
            raise NoMoreTestsError
        return {"c", "g"} <= set(part)

    assert ddmin("abcdefgh", breaks) == Minimal(tuple("abcdefgh"), False)
    left[0] = 9
    found = ddmin("abcdefgh", breaks)
    assert set("cg") <= set(found.items) < set("abcdefgh")
    assert not found.is_minimal


def test_the_fewest_additions_come_first_in_order() -> None:
    assert fewest_additions(["p0", "p1", "p2"], lambda part: "p1" in part) == ("p1",)
    assert fewest_additions(["p0", "p1", "p2"], lambda part: {"p0", "p2"} <= set(part)) == ("p0", "p2")
    assert fewest_additions(["p0", "p1"], lambda part: False) is None
    assert fewest_additions([], lambda part: True) is None


def test_stopped_additions_help_nobody() -> None:
    def helps(part: Part) -> bool:
        raise NoMoreTestsError

    assert fewest_additions(["p0"], helps) is None


@given(st.integers(0, 6), st.sets(st.integers(0, 63)))
def test_a_smallest_part_is_1_minimal_whatever_breaks(n: int, broken: set[int]) -> None:
    """Against brute force: any set of parts may break, also one that is not monotone."""
    items = tuple(range(n))
    parts = [part for count in range(n + 1) for part in combinations(items, count)]
    breaking = {part for at, part in enumerate(parts) if at in broken} | {items}
    found = ddmin(items, breaking.__contains__)
    assert found.items in breaking
    assert found.is_minimal
    for at in range(len(found.items)):
        without = (*found.items[:at], *found.items[at + 1 :])
        assert without not in breaking
    if () in breaking:
        assert found.items == ()
    assert ddmin(items, breaking.__contains__) == found


@given(st.integers(1, 6), st.data())
def test_a_monotone_failure_gives_one_of_the_smallest_causes(n: int, data: st.DataObject) -> None:
    items = tuple(range(n))
    causes = data.draw(st.sets(st.frozensets(st.sampled_from(items), min_size=1), min_size=1, max_size=3))
    found = ddmin(items, lambda part: any(cause <= set(part) for cause in causes))
    assert frozenset(found.items) in causes
    assert not any(cause < set(found.items) for cause in causes)
