"""Selection of cases: limit, sample, where and seed, by marker and by option."""

from __future__ import annotations

from typing import Any, cast

from pytest_rageval.hooks.collect import selection
from pytest_rageval.hooks.collect.datasets import Source
from pytest_rageval.hooks.collect.testbed import Entry, Responder, Testbed
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.testbeds.settings import parse_settings

SOURCE = Source("jsonl:a", (), b"")


def options(limit: int | None = None, sample: int | None = None) -> Options:
    return cast("Options", type("StubOptions", (), {"limit": limit, "sample": sample}))


def deselected(options: Options, entries: list[Entry]) -> set[int]:
    return selection.deselected(options, entries, {entry.ordinal for entry in entries})


def make(name: str = "test_a", seed: int = 0, **settings: Any) -> Testbed:
    return Testbed(name, name, "", parse_settings({"dataset": "jsonl:a", **settings}, "here"), seed, asserts=False)


def entry(ordinal: int, bed: Testbed, name: str, system: str = "s", **facets: str) -> Entry:
    case = Case(name, Instance(name, "Q?"), None, {**facets, "system": system})
    return Entry(ordinal, bed, SOURCE, case, name, Responder(system))


def test_nothing_is_deselected_by_default() -> None:
    bed = make()
    assert deselected(options(), [entry(n, bed, f"q{n}") for n in range(3)]) == set()
    assert deselected(options(limit=1), []) == set()


def test_the_marker_defines_the_testbed_and_the_option_selects_from_the_rest() -> None:
    bed = make(limit=4)
    entries = [entry(n, bed, f"q{n}") for n in range(6)]
    assert selection.deselected(options(), entries, {1, 3, 5}) == {5}
    assert selection.deselected(options(limit=1), entries, {1, 3, 5}) == {3, 5}
    assert selection.deselected(options(limit=1), entries, set()) == set()


def test_each_testbed_has_a_separate_limit() -> None:
    one, two = make("a"), make("b", limit=1)
    entries = [entry(n, (one, two)[n % 2], f"q{n}") for n in range(8)]
    assert deselected(options(limit=2), entries) == {4, 6, 3, 5, 7}


def test_a_duplicate_item_counts_once() -> None:
    bed = make(limit=1)
    first = entry(0, bed, "q0")
    assert deselected(options(), [first, first, entry(1, bed, "q1")]) == {1}


def test_all_systems_of_a_sampled_case_are_selected() -> None:
    bed = make(sample=2)
    entries = [entry(2 * n + s, bed, f"q{n}", "ab"[s]) for n in range(9) for s in (0, 1)]
    ordinals = {e.ordinal for e in entries} - deselected(options(), entries)
    assert len(ordinals) == 4
    assert {n ^ 1 for n in ordinals} == ordinals
    assert ordinals == {e.ordinal for e in entries} - deselected(options(sample=7), entries)


def test_where_applies_first_then_the_limit_of_the_marker_then_the_option() -> None:
    bed = make(where={"topic": "x"}, limit=3)
    entries = [entry(n, bed, f"q{n}", topic="xy"[n % 2]) for n in range(10)]
    assert {0, 1, 2, 3, 4, 5, 6, 7, 8, 9} - deselected(options(), entries) == {0, 2, 4}
    assert {0, 1, 2, 3, 4, 5, 6, 7, 8, 9} - deselected(options(limit=1), entries) == {0}
    assert deselected(options(), [e for e in entries if e.ordinal % 2]) == {1, 3, 5, 7, 9}


def test_the_seed_of_the_testbed_decides_the_sample() -> None:
    def sampled(seed: int) -> frozenset[int]:
        bed = make(seed=seed)
        return frozenset(range(20)) - deselected(options(sample=4), [entry(n, bed, f"q{n}") for n in range(20)])

    assert sampled(1) == sampled(1)
    assert len({sampled(seed) for seed in range(5)}) > 1
