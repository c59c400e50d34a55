"""The cases of a testbed, expanded with their variants by relations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.generation.relations.case_variants import expand_by_relations
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.testbeds.expand import expand
from pytest_rageval.testbeds.settings import parse_settings

PASSAGES = (
    Passage("p0", "The museum opens at 9:00.", role="positive"),
    Passage("n0", "Ferries leave at noon.", role="negative"),
    Passage("n1", "Bread rises.", role="negative"),
)
MUSEUM = Instance("museum", "When does the museum open?", (("9:00",),), PASSAGES)
FERRY = Instance("ferry", "Who runs the ferry?", (("Ann Lee",),), PASSAGES[1:])


def names(*instances: Instance, **raw: Any) -> list[str]:
    settings = parse_settings({"dataset": "jsonl:cases.jsonl", **raw}, "test_a.py:3")
    expanded = expand_by_relations(settings, expand(settings, instances, 0), instances, 0)
    return [name + suffix for name, versions in expanded.cases for suffix, _ in versions]


def test_a_case_comes_before_its_variants() -> None:
    assert names(MUSEUM, FERRY, relations=["typo", "case"], variants=1) == [
        "museum",
        "museum-relation=typo-variant=1",
        "museum-relation=case-variant=1",
        "ferry",
        "ferry-relation=typo-variant=1",
        "ferry-relation=case-variant=1",
    ]


def test_only_cases_that_the_settings_select_have_variants() -> None:
    variant = "museum-relation=case-variant=1"
    assert names(MUSEUM, FERRY, relations=["case"], variants=1, limit=1) == ["museum", variant, "ferry"]
    museum, ferry = (replace(each, facets={"topic": each.id}) for each in (MUSEUM, FERRY))
    assert names(ferry, museum, relations=["case"], variants=1, where={"topic": "museum", "system": "mine"}) == [
        "ferry",
        "museum",
        variant,
    ]


def test_a_case_has_the_same_typos_at_every_noise_rate() -> None:
    settings = parse_settings(
        {
            "dataset": "jsonl:a",
            "ability": "noise_robustness",
            "noise_rate": [0, 0.5],
            "passages": 2,
            "relations": "typo",
        },
        "test_a.py:3",
    )
    expanded = expand_by_relations(settings, expand(settings, [MUSEUM], 0), [MUSEUM], 0)
    clean, noisy = ([case.instance.question for _, case in versions] for _, versions in expanded.cases)
    assert clean == noisy
    assert len(clean) == 4
    assert [case.facets["noise_rate"] for _, case in expanded.cases[1][1]] == ["0.5"] * 4


def test_a_relation_that_changes_no_case_is_noted() -> None:
    settings = parse_settings({"dataset": "jsonl:a", "relations": ["number_format", "case"]}, "test_a.py:3")
    expanded = expand_by_relations(settings, expand(settings, [MUSEUM], 0), [MUSEUM], 0)
    assert expanded.notes == ("the relation number_format changes none of its cases",)


def test_three_variants_are_the_default() -> None:
    assert parse_settings({"dataset": "jsonl:a", "relations": "typo"}, "").variants == 3


def test_a_relation_over_passages_needs_passages() -> None:
    with pytest.raises(SettingError, match=r"test_a\.py:3: the relation drop_irrelevant changes supplied passages"):
        names(MUSEUM, relations=["typo", "drop_irrelevant"], passages="retrieved")


def test_unknown_relations_and_a_facet_named_relation_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"test_a\.py:3: relations: unknown relation 'typoo'.*'typo'"):
        names(MUSEUM, relations=["typoo"])
    with pytest.raises(SettingError, match=r"the case 'museum' has the facet 'relation', which relations set"):
        names(MUSEUM, relations=["typo"], facets={"relation": "mine"})


@pytest.mark.parametrize(
    "raw", [{"variants": 2}, {"relations": ["typo"], "variants": 0}, {"relations": ["typo", "typo"]}]
)
def test_invalid_settings_of_variants_are_refused(raw: dict[str, object]) -> None:
    with pytest.raises(SettingError, match=r"^test_a\.py:3: "):
        parse_settings({"dataset": "jsonl:a", **raw}, "test_a.py:3")
