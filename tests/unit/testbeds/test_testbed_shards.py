"""Cases dealt to shards: all of them, each to one, evenly in each testbed, whatever their order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.model.case import Case, Instance
from pytest_rageval.testbeds.shards import Unit, deal, unit_of

names = st.text(min_size=1, max_size=4)
testbeds = st.dictionaries(st.sampled_from("abc"), st.integers(1, 6), min_size=1)
units = st.dictionaries(st.tuples(st.sampled_from(["d", "e"]), names), testbeds, max_size=40)


def alone(n: int, testbed: str = "a", size: int = 1) -> dict[Unit, dict[str, int]]:
    return {(testbed, str(at)): {testbed: size} for at in range(n)}


def loads(dealt: dict[Unit, int], wanted: dict[Unit, dict[str, int]], testbed: str, of: int) -> list[int]:
    counts: Counter[int] = Counter()
    for unit, shard in dealt.items():
        counts[shard] += wanted[unit].get(testbed, 0)
    return [counts[shard] for shard in range(1, of + 1)]


@given(units, st.integers(1, 7), st.randoms())
def test_each_unit_has_one_shard_in_any_order(wanted: dict[Unit, dict[str, int]], of: int, random: Random) -> None:
    dealt = deal(wanted, of)
    assert dealt.keys() == wanted.keys()
    assert set(dealt.values()) <= set(range(1, of + 1))
    shuffled = list(wanted.items())
    random.shuffle(shuffled)
    assert deal(dict(shuffled), of) == dealt


@given(st.integers(0, 40), st.integers(0, 9), st.integers(1, 3), st.integers(1, 8))
def test_testbeds_with_separate_cases_are_split_evenly(n: int, others: int, size: int, of: int) -> None:
    wanted = alone(n, "a", size) | alone(others, "b")
    dealt = deal(wanted, of)
    for testbed, step in (("a", size), ("b", 1)):
        found = loads(dealt, wanted, testbed, of)
        assert max(found) - min(found) <= step
    totals = Counter(dealt.values())
    assert set(totals) == set(range(1, of + 1)) or n + others < of  # small testbeds do not all begin at shard 1


@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 8))
def test_testbeds_with_shared_cases_are_split_evenly(n: int, more: int, of: int) -> None:
    wanted = {unit: {"a": 1, "b": 1} if at < n else {"a": 1} for at, unit in enumerate(alone(n + more))}
    dealt = deal(wanted, of)
    for testbed in "ab":
        found = loads(dealt, wanted, testbed, of)
        assert max(found) - min(found) <= 1


def test_long_conversations_go_first() -> None:
    wanted = {("d", "", "long"): {"a": 6}, **alone(6)}
    dealt = deal(wanted, 2)
    assert loads(dealt, wanted, "a", 2) == [6, 6]


def test_it_is_the_same_on_every_machine() -> None:
    shares = deal(alone(12), 3)
    assert "".join(str(shares["a", str(at)]) for at in range(12)) == "312332113122"


def test_a_turn_belongs_to_its_conversation_and_a_case_to_its_instance() -> None:
    case = Case("q1", Instance("q1", "?", ()), None, {"dialogue": "7", "round": "2"})
    assert unit_of(case, "jsonl:a") == unit_of(case.renamed("q2"), "jsonl:a")
    assert unit_of(case, "jsonl:a") != unit_of(case, "jsonl:b")
    other = replace(case, facets={"dialogue": "yes"})  # no turn, as it has no round
    assert unit_of(other, "jsonl:a") == ("jsonl:a", "q1")
