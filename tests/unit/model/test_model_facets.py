from __future__ import annotations

import copy
import json
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facets import (
    ABILITIES,
    FACETS,
    LEVELS,
    TASKS,
    SharedFacets,
    facet_text,
    in_slice,
    is_variant,
    matches,
    parent_facet,
    place_of,
    sort_key,
    workflow_and_model,
)


def test_the_facet_names_and_values_are_those_of_the_contract() -> None:
    assert FACETS == (
        "dataset", "ability", "task", "topic", "domain", "level", "language", "noise_rate", "passages", "system",
        "workflow", "model",
    )  # fmt: skip
    names = [*ABILITIES, *LEVELS, *TASKS]
    assert len(names) == 17
    assert len(set(names)) == 17
    assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize(
    "change",
    [
        lambda facets: facets.__setitem__("x", "1"),
        lambda facets: facets.__delitem__("topic"),
        lambda facets: facets.__ior__({"x": "1"}),
        lambda facets: facets.update(x="1"),
        lambda facets: facets.setdefault("x", "1"),
        lambda facets: facets.pop("topic"),
        lambda facets: facets.popitem(),
        lambda facets: facets.clear(),
    ],
)
def test_facets_shared_by_cases_cannot_be_changed(change: Callable[[Any], object]) -> None:
    shared_facets = SharedFacets()
    one, other = shared_facets.of({"topic": "Funds"}), shared_facets.of({"topic": "Funds"})
    with pytest.raises(TypeError, match="several cases share this dict; change a copy of it"):
        change(one)
    assert one is other
    assert one == {"topic": "Funds"}


def test_shared_facets_work_as_a_dict_in_json_and_copies() -> None:
    facets = SharedFacets().of({"topic": "Funds"})
    assert json.dumps(facets) == '{"topic": "Funds"}'
    assert copy.deepcopy(facets) == pickle.loads(pickle.dumps(facets)) == {"topic": "Funds"}  # noqa: S301 - our own
    case = Case("q1", Instance("q1", "?"), (), facets)
    assert dict(facets) | {"x": "1"} == case.with_facets(x="1").facets


def test_equal_labels_share_a_mapping_that_does_not_keep_them_alive() -> None:
    class Labels(dict[str, str]): ...

    shared_facets, facets = SharedFacets(), {"topic": "Funds"}
    labels = Labels(system="desk")
    reference = weakref.ref(labels)
    labelled = shared_facets.with_labels(facets, labels)
    del labels
    assert reference() is None
    assert shared_facets.with_labels(facets, Labels(system="desk")) is labelled
    assert labelled == {"topic": "Funds", "system": "desk"}


def test_workflow_and_model_are_read_from_the_facets_of_a_case() -> None:
    assert workflow_and_model({"model": "Golf", "system": "desk", "topic": "cars"}) == {"model": "Golf"}


def test_the_place_of_a_case_is_its_value_below_the_value_of_the_parent_facet() -> None:
    assert parent_facet("topic") == "topic_1"
    facets = {"topic_1": "Investment", "topic": "Funds"}
    assert [place_of(facets, name) for name in ("topic", "topic_1", "task")] == [
        ("Investment", "Funds"), ("-", "Investment"), ("-", "-"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Funds", "Funds"), ("0.40", "0.40"), ("", ""), (True, "true"), (False, "false"), (3, "3"), (0.4, "0.4"),
        (1.0, "1"), (0.0, "0"), (-0.0, "0"), (0.1 + 0.2, "0.3"), (1 / 3, "0.333333"), (1e-7, "1e-07"),
        (2024.0, "2024"), (1234567.0, "1234567"), (20241231.0, "20241231"), (-1e9, "-1000000000"), (1e22, "1e+22"),
        (10**20, "100000000000000000000"), (float("inf"), "inf"), (float("nan"), "nan"),
    ],
)  # fmt: skip
def test_a_facet_value_has_a_short_text(value: object, text: str) -> None:
    assert facet_text(value) == text


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("0.8", "0.8", True), ("0.80", "0.8", True), ("0.8", ".8", True), ("1", "1.0", True), ("1e1", "10", True),
        ("0", "-0", True), ("0.8", "0.81", False), ("Funds", "Funds", True), ("Funds", "funds", False),
        ("Funds", " Funds", False), ("", "", True), ("", "0", False), ("true", "1", False), ("nan", "nan", True),
        ("nan", "1", False), ("nan", "NaN", False), ("sNaN", "1", False), ("v1", "1", False), ("基金", "基金", True),
        ("20240101000000001", "20240101000000002", False), ("9" * 400, "9" * 399 + "8", False),
    ],
)  # fmt: skip
def test_values_match_as_texts_or_as_numbers(one: str, other: str, expected: bool) -> None:
    assert matches({"facet": one}, {"facet": other}) is expected
    assert matches({"facet": other}, {"facet": one}) is expected


def test_every_facet_must_match() -> None:
    facets = {"topic": "A", "noise_rate": "0.4"}
    assert matches(facets, {})
    assert matches(facets, {"topic": "A", "noise_rate": "0.40"})
    assert not matches(facets, {"topic": "A", "noise_rate": "0.5"})
    assert not matches(facets, {"task": "qa"})


def test_a_star_matches_any_value_of_the_facet() -> None:
    assert matches({"topic": ""}, {"topic": "*"})
    assert not matches({"task": "qa"}, {"topic": "*"})
    assert not matches({"topic": "*"}, {"topic": "A"})


def test_values_are_sorted_with_numbers_first_and_missing_values_last() -> None:
    values = ["-", "b", "10", "nan", "a", "9", "-1", "inf", "0.5", "基"]
    assert sorted(values, key=sort_key) == ["-1", "0.5", "9", "10", "a", "b", "inf", "nan", "基", "-"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [({}, False), ({"topic": "Hours"}, False), ({"topic": "*", "relation": "typo"}, True), ({"variant": "*"}, True),
     ({"relation": "case"}, False)],
)  # fmt: skip
def test_a_variant_is_in_a_slice_only_if_the_slice_names_its_variant_facets(
    where: dict[str, str], expected: bool
) -> None:
    facets = {"topic": "Hours", "relation": "typo", "variant": "1"}
    assert in_slice(facets, where) is expected
    assert is_variant(facets)


def test_a_case_with_a_facet_named_relation_is_not_a_variant() -> None:
    assert in_slice({"relation": "author"}, {})
    assert not is_variant({"relation": "author"})
