"""Cases are dealt to shards: each to one shard, evenly, independent of their order."""

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


def units_of_one_testbed(n: int, testbed: str = "a", size: int = 1) -> dict[Unit, dict[str, int]]:
    return {(testbed, str(at)): {testbed: size} for at in range(n)}


def loads(shards: dict[Unit, int], sizes: dict[Unit, dict[str, int]], testbed: str, count: int) -> list[int]:
    counts: Counter[int] = Counter()
    for unit, shard in shards.items():
        counts[shard] += sizes[unit].get(testbed, 0)
    return [counts[shard] for shard in range(1, count + 1)]


@given(units, st.integers(1, 7), st.randoms())
def test_each_unit_has_one_shard_in_any_order(sizes: dict[Unit, dict[str, int]], count: int, random: Random) -> None:
    shards = deal(sizes, count)
    assert shards.keys() == sizes.keys()
    assert set(shards.values()) <= set(range(1, count + 1))
    shuffled = list(sizes.items())
    random.shuffle(shuffled)
    assert deal(dict(shuffled), count) == shards


@given(st.integers(0, 40), st.integers(0, 9), st.integers(1, 3), st.integers(1, 8))
def test_testbeds_with_separate_cases_are_split_evenly(n: int, others: int, size: int, count: int) -> None:
    sizes = units_of_one_testbed(n, "a", size) | units_of_one_testbed(others, "b")
    shards = deal(sizes, count)
    for testbed, step in (("a", size), ("b", 1)):
        shard_loads = loads(shards, sizes, testbed, count)
        assert max(shard_loads) - min(shard_loads) <= step
    totals = Counter(shards.values())
    assert set(totals) == set(range(1, count + 1)) or n + others < count  # small testbeds begin at different shards


@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 8))
def test_testbeds_with_shared_cases_are_split_evenly(n: int, more: int, count: int) -> None:
    sizes = {unit: {"a": 1, "b": 1} if at < n else {"a": 1} for at, unit in enumerate(units_of_one_testbed(n + more))}
    shards = deal(sizes, count)
    for testbed in "ab":
        shard_loads = loads(shards, sizes, testbed, count)
        assert max(shard_loads) - min(shard_loads) <= 1


def test_long_conversations_are_dealt_first() -> None:
    sizes = {("d", "", "long"): {"a": 6}, **units_of_one_testbed(6)}
    shards = deal(sizes, 2)
    assert loads(shards, sizes, "a", 2) == [6, 6]


def test_the_shards_are_the_same_on_every_machine() -> None:
    shares = deal(units_of_one_testbed(12), 3)
    assert "".join(str(shares["a", str(at)]) for at in range(12)) == "312332113122"


def test_a_turn_belongs_to_its_conversation_and_a_case_to_its_instance() -> None:
    case = Case("q1", Instance("q1", "?", ()), None, {"dialogue": "7", "round": "2"})
    assert unit_of(case, "jsonl:a") == unit_of(case.renamed("q2"), "jsonl:a")
    assert unit_of(case, "jsonl:a") != unit_of(case, "jsonl:b")
    other = replace(case, facets={"dialogue": "yes"})  # without a round it is not a turn
    assert unit_of(other, "jsonl:a") == ("jsonl:a", "q1")
