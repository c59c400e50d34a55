"""Cases that depend on each other form one unit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.samples.outcome_samples import outcome

from pytest_rageval.analysis.units import links_of, units_of, units_of_outcomes
from pytest_rageval.model.outcome import Outcome


def clustered_outcome(name: str, cluster: str, **facets: Any) -> Outcome:
    return replace(outcome(name, 1.0, **facets), cluster=cluster)


def test_each_case_without_a_dialogue_is_a_unit() -> None:
    units = units_of_outcomes([outcome("a", topic="x"), outcome("b", topic="x")])
    assert (units.n, units.facet) == (2, "")
    assert len(set(units.names)) == 2


def test_turns_of_one_dialogue_are_one_unit() -> None:
    turns = [outcome(f"d{d}-{r}", dialogue=f"d{d}", round=str(r)) for d in range(3) for r in range(5)]
    units = units_of_outcomes(turns)
    assert (units.n, units.facet) == (3, "dialogue")
    assert [len(each) for each in units.grouped(turns).values()] == [5, 5, 5]


def test_a_case_under_several_settings_is_one_unit_without_a_facet() -> None:
    units = units_of_outcomes([outcome("a", noise_rate="0"), outcome("a", noise_rate="0.4"), outcome("b")])
    assert (units.n, units.facet) == (2, "")


def test_a_cluster_joins_cases_with_the_same_value_of_its_facet() -> None:
    cases = [clustered_outcome(name, "document", document=name[0]) for name in ("a1", "a2", "b1")]
    assert (units_of_outcomes(cases).n, units_of_outcomes(cases).facet) == (2, "document")
    assert units_of_outcomes([replace(each, cluster="dialogue") for each in cases]).n == 3


def test_a_case_without_the_facet_of_its_cluster_stays_alone() -> None:
    cases = [
        clustered_outcome("a", "document", document="x"),
        clustered_outcome("b", "document"),
        clustered_outcome("c", "document"),
    ]
    assert units_of_outcomes(cases).n == 3


def test_units_are_connected_components() -> None:
    """Dialogue d1 asks about documents x and y, and dialogue d2 about y: all three turns are one unit; z is another."""
    cases = [
        clustered_outcome("1", "document", dialogue="d1", document="x"),
        clustered_outcome("2", "document", dialogue="d1", document="y"),
        clustered_outcome("3", "document", dialogue="d2", document="y"),
        clustered_outcome("4", "document", dialogue="d3", document="z"),
    ]
    units = units_of_outcomes(cases)
    assert (units.n, units.facet) == (2, "unit")
    assert units.names[0] == units.names[1] == units.names[2] != units.names[3]


def test_the_names_of_units_do_not_depend_on_the_order() -> None:
    cases = [clustered_outcome(str(at), "document", document=str(at % 3), dialogue=str(at // 4)) for at in range(12)]
    names = dict(zip([each.case_id for each in cases], units_of_outcomes(cases).names, strict=True))
    reversed_names = dict(
        zip([each.case_id for each in cases[::-1]], units_of_outcomes(cases[::-1]).names, strict=True)
    )
    assert names == reversed_names


def test_systems_and_dialogues_of_other_datasets_are_separate_units() -> None:
    one = outcome("a", dialogue="1", dataset="shop")
    assert units_of_outcomes([one, replace(one, system="other")]).n == 2
    assert units_of_outcomes([one, outcome("b", dialogue="1", dataset="bank")]).n == 2
    assert units_of_outcomes([one, outcome("b", dialogue="1", dataset="shop")]).n == 1


def test_a_document_is_the_same_in_every_testbed() -> None:
    shop = clustered_outcome("a", "document", document="x", dataset="shop")
    bank = replace(clustered_outcome("b", "document", document="x", dataset="bank"), testbed="test_b.py::test_b")
    assert units_of_outcomes([shop, bank]).n == 1


def test_units_are_missing_without_cases() -> None:
    units = units_of([])
    assert (units.names, units.n, units.facet) == ((), 0, "")


def test_a_facet_with_one_case_joins_nothing() -> None:
    links = links_of("a", "mine", {"dialogue": "d", "document": "x"}, "document")
    assert units_of([links, links]).facet == ""


def test_documents_with_whole_dialogues_are_the_units() -> None:
    cases = [clustered_outcome(str(at), "document", dialogue=str(at // 2), document=str(at // 4)) for at in range(8)]
    assert (units_of_outcomes(cases).n, units_of_outcomes(cases).facet) == (2, "document")


def test_a_dialogue_is_one_unit_in_every_cell() -> None:
    turns = [outcome(f"d1-{turn}", dialogue="d1", round=str(turn)) for turn in range(3)]
    assert len({units_of_outcomes([turn]).names[0] for turn in turns}) == 1


def test_dialogues_mixed_with_single_questions_are_called_units() -> None:
    cases = [outcome("a1", dialogue="a"), outcome("a2", dialogue="a"), outcome("b"), outcome("c")]
    assert (units_of_outcomes(cases).n, units_of_outcomes(cases).facet) == (3, "unit")
