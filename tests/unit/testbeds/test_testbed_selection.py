"""Selection of cases by `where`, `limit` and `sample`."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_rageval.errors import UnknownNameError
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.testbeds.selection import select, stratified


def case(name: str, **facets: str) -> Case:
    return Case(name, Instance(name, "Q?"), None, facets)


def strata(sizes: dict[str, int]) -> list[Case]:
    return [case(f"{topic}{i}", topic=topic, task="t") for topic, size in sizes.items() for i in range(size)]


def test_where_limit_and_sample_apply_in_this_order() -> None:
    cases = [case(f"c{i}", topic="ab"[i % 2], noise_rate="0.4" if i < 6 else "0.8") for i in range(12)]
    assert select(cases, {}, None, None, 0) == list(range(12))
    assert select(cases, {"topic": "a"}, None, None, 0) == [0, 2, 4, 6, 8, 10]
    assert select(cases, {"topic": "a", "noise_rate": "0.40"}, None, None, 0) == [0, 2, 4]
    assert select(cases, {"topic": "*"}, 3, None, 0) == [0, 1, 2]
    assert select(cases, {"topic": "b"}, 2, None, 0) == [1, 3]
    sample = select(cases, {"topic": "a"}, 4, 2, 0)
    assert len(sample) == 2
    assert sample == sorted(sample)
    assert set(sample) <= {0, 2, 4, 6}
    assert select(cases, {"topic": "none"}, None, 5, 0) == []
    assert select([], {"x": "y"}, 1, None, 0) == []


def test_a_facet_that_no_case_has_is_refused_unless_the_plugin_knows_it() -> None:
    cases = [case("a", year="1931")]
    assert select(cases, {"system": "x"}, None, None, 0) == []
    with pytest.raises(UnknownNameError, match=r"^here: unknown facet 'yaer'; did you mean 'year'\?$"):
        select(cases, {"yaer": "1931"}, None, None, 0, "here")


@pytest.mark.parametrize(
    ("sizes", "n", "shares"),
    [
        ({"a": 60, "b": 30, "c": 10}, 10, {"a": 6, "b": 3, "c": 1}),
        ({"a": 97, "b": 2, "c": 1}, 10, {"a": 8, "b": 1, "c": 1}),
        ({"a": 50, "b": 30, "c": 20}, 5, {"a": 3, "b": 1, "c": 1}),
        ({"a": 5, "b": 5, "c": 5}, 4, {"a": 2, "b": 1, "c": 1}),
        ({"a": 7, "b": 2, "c": 1}, 2, {"a": 2}),
        ({"a": 3, "b": 2}, 9, {"a": 3, "b": 2}),
        ({"a": 1, "b": 1, "c": 1}, 3, {"a": 1, "b": 1, "c": 1}),
    ],
)
def test_strata_share_a_sample_by_largest_remainder_with_at_least_one_case_each_if_it_suffices(
    sizes: dict[str, int], n: int, shares: dict[str, int]
) -> None:
    cases = strata(sizes)
    assert Counter(cases[i].facets["topic"] for i in stratified(cases, n, 0)) == shares


def test_topics_and_tasks_are_strata_and_may_be_missing() -> None:
    cases = [case(f"c{i}", task="ab"[i % 2]) for i in range(20)] + [case("lone")]
    sample = [cases[i] for i in stratified(cases, 3, 0)]
    assert Counter(c.facets.get("task") for c in sample) == {"a": 1, "b": 1, None: 1}


def test_a_sample_depends_on_the_seed_and_takes_all_settings_of_an_instance() -> None:
    cases = [case(f"c{i}", noise_rate=rate) for i in range(50) for rate in ("0", "0.4")]
    assert stratified(cases, 10, 0) == stratified(cases, 10, 0) != stratified(cases, 10, 1)
    assert set(Counter(cases[i].id for i in stratified(cases, 10, 0)).values()) == {2}


def test_a_new_record_replaces_at_most_one_case_of_the_sample() -> None:
    cases = strata({"a": 100})
    before = {cases[i].id for i in stratified(cases, 20, 3)}
    more = [case("new", topic="a", task="t"), *cases]
    after = {more[i].id for i in stratified(more, 20, 3)}
    assert len(before - after) <= 1
    assert after - before <= {"new"}


def test_ten_thousand_strata_are_sampled_without_a_timeout() -> None:
    cases = [case(f"c{i}", topic=f"t{i % 10_000}") for i in range(30_000)]
    assert len(stratified(cases, 20_000, 0)) == 20_000
