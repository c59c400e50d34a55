from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_rageval.model.case import Case, Instance, Passage, Query, Role, Turn


def passage(name: str, role: Role = "", group: int | None = None) -> Passage:
    return Passage(name, f"text of {name}", f"title of {name}", role, group)


P0, P1, N0, W0 = (
    passage("p0", "positive"),
    passage("p1", "positive"),
    passage("n0", "negative"),
    passage("w0", "counterfactual"),
)
G0, G1, G1B = passage("p0.0", "positive", 0), passage("p1.0", "positive", 1), passage("p1.1", "positive", 1)
PLAIN = passage("d0")  # fmt: skip


@pytest.mark.parametrize(
    ("answerable", "pool", "supplied", "expected"),
    [
        (None, None, None, None),  # the system retrieves
        (None, (P0, N0), None, None),
        (True, None, None, None),
        (False, None, None, False),  # no answer should be given
        (False, (P0, N0), (P0,), False),
        (None, (P0, N0), (N0,), False),
        (None, (P0, N0), (N0, P0), True),
        (None, (P0, P1, N0), (P1,), True),  # one positive of the group is enough
        (None, (P0, N0), (), False),
        (None, (N0,), (N0,), False),  # the record has no evidence at all
        (None, (W0, N0), (W0,), False),
        (None, (P0, W0), (W0,), False),
        (None, (G0, G1, G1B), (G0, G1B), True),  # a positive of each group
        (None, (G0, G1, G1B), (G1, G1B), False),
        (None, (G0, G1, N0), (N0,), False),
        (None, (PLAIN,), (PLAIN,), None),  # roles are unknown
        (None, (), (), None),
        (True, (P0, N0), (N0,), False),
    ],
)
def test_evidence_needs_a_positive_of_every_group(
    answerable: bool | None,
    pool: tuple[Passage, ...] | None,
    supplied: tuple[Passage, ...] | None,
    expected: bool | None,
) -> None:
    instance = Instance("q", "?", passages=pool, answerable=answerable)
    assert Case("q", instance, supplied, {}).evidence is expected


def test_a_query_contains_only_the_inputs_of_a_system() -> None:
    history = (Turn("Who?", "Her."),)
    instance = Instance(
        id="q1",
        question="Where?",
        gold=(("SECRET",),),
        passages=(P0, N0, W0),
        fake=(("FALSE",),),
        qrels={"p0": 1},
        history=history,
        answerable=True,
        language="zh",
        facets={"topic": "T"},
    )
    query = Case("q1", instance, (G1, N0), {"noise_rate": "0.5"}, "Answer shortly.").query
    assert query == Query(
        "Where?",
        (Passage("p1.0", "text of p1.0", "title of p1.0"), Passage("n0", "text of n0", "title of n0")),
        history,
        "zh",
        "Answer shortly.",
    )
    assert not {"SECRET", "FALSE", "positive", "negative", "T"} & set(leaves(query))


def leaves(value: object) -> list[object]:
    if dataclasses.is_dataclass(value):
        return [leaf for field in dataclasses.fields(value) for leaf in leaves(getattr(value, field.name))]
    if isinstance(value, Mapping):
        return leaves((*value, *value.values()))
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def test_a_query_distinguishes_no_passages_from_retrieval() -> None:
    instance = Instance("q", "?", passages=(P0,))
    assert Case("q", instance, None, {}).query.passages is None
    assert Case("q", instance, (), {}).query.passages == ()


def test_qrels_can_be_added_to_one_instance_without_changing_another() -> None:
    with_qrels, other = Instance("a", "?"), Instance("b", "?")
    with_qrels.qrels["d"] = 1  # type: ignore[index]
    assert (with_qrels.qrels, other.qrels) == ({"d": 1}, {})


def test_qrels_come_from_the_record_or_from_the_pages_of_its_gold_passages() -> None:
    pool = (replace(P0, page="x"), replace(P1, page="y"), replace(N0, page="z"), PLAIN)
    instance = Instance("q", "?", passages=pool)
    assert Case("q", instance, None, {}).qrels == {"x": 1, "y": 1}
    assert Case("q", instance, pool, {}).qrels == {}
    with_qrels = replace(instance, qrels={"d": 2})
    assert Case("q", with_qrels, None, {}).qrels == Case("q", with_qrels, pool, {}).qrels == {"d": 2}


def test_a_changed_case_is_a_copy() -> None:
    case = Case("q", Instance("q", "?"), None, {"topic": "A"}, "Answer.")
    assert case.with_facets(topic="B", system="mine") == Case(
        "q", case.instance, None, {"topic": "B", "system": "mine"}, "Answer."
    )
    assert case.renamed("x:q") == Case("x:q", case.instance, None, {"topic": "A"}, "Answer.")
    assert (case.id, case.facets) == ("q", {"topic": "A"})
