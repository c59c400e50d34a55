from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from pytest_rageval.model.case import Case, Instance, Passage, Turn
from pytest_rageval.model.digests import case_digest, text_digest

POOL = (Passage("p0", "The tower.", "Paris", "positive", 0), Passage("n0", "Noise.", role="negative"))
INSTANCE = Instance(
    "q1",
    "Which?",
    (("Paris", "the capital"),),
    POOL,
    (("Lyon",),),
    {"d1": 1, "d2": 0},
    (Turn("Who?", "Her."),),
    True,
    facets={"topic": "Towers"},
    origin="cases.jsonl:1",
    provenance=(("d1", "d2"),),
)
CASE = Case("q1", INSTANCE, None, {"topic": "Towers"})


def with_instance(**changes: Any) -> Case:
    return replace(CASE, instance=replace(INSTANCE, **changes))


def test_a_digest_has_sixteen_hex_digits_and_is_stable_across_sessions() -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", case_digest(CASE))
    assert text_digest("Paris") == "6e36e9be37fd7256"
    assert text_digest("Paris") != text_digest("paris")
    assert text_digest("\ud800") != text_digest("\ud801")


@pytest.mark.parametrize(
    "case",
    [
        with_instance(question="Where?"),
        with_instance(gold=(("Paris",),)),
        with_instance(gold=(("Paris",), ("the capital",))),
        with_instance(fake=(("Nice",),)),
        with_instance(qrels={"d1": 1, "d2": 1}),
        with_instance(provenance=(("d1",), ("d2",))),
        with_instance(answerable=None),
        with_instance(history=(Turn("Who?", "Him."),)),
        with_instance(history=()),
        with_instance(passages=POOL[:1]),
        with_instance(passages=(replace(POOL[0], text="A tower."), POOL[1])),
        with_instance(passages=(replace(POOL[0], title="Lyon"), POOL[1])),
        with_instance(passages=(replace(POOL[0], role="negative"), POOL[1])),
        with_instance(passages=(replace(POOL[0], group=1), POOL[1])),
        replace(CASE, supplied=()),
        replace(CASE, supplied=POOL[::-1]),
        replace(CASE, relevance="answers"),
    ],
)
def test_any_change_of_the_question_or_the_gold_data_changes_the_digest(case: Case) -> None:
    assert case_digest(case) != case_digest(CASE)


@pytest.mark.parametrize(
    "case",
    [
        CASE.renamed("kettle"),
        with_instance(id="kettle", origin="other.jsonl:7"),
        with_instance(facets={"topic": "Kettles"}),
        with_instance(qrels={"d2": 0, "d1": 1}),
        with_instance(passages=tuple(replace(passage, id=f"x-{passage.id}") for passage in POOL)),
        CASE.with_facets(topic="Kettles"),
        replace(CASE, instructions="Be brief."),
        replace(CASE, supplied=POOL),
    ],
)
def test_ids_facets_and_instructions_do_not_change_the_digest(case: Case) -> None:
    assert case_digest(case) == case_digest(CASE)


def test_the_digest_includes_earlier_questions_but_not_the_systems_answers() -> None:
    first = Case("q0", Instance("q0", "Who?"), None, {})
    with_earlier = replace(CASE, earlier=(first,))
    assert case_digest(with_earlier.with_history((Turn("Who?", "Him."),))) == case_digest(with_earlier)
    other = replace(first, instance=replace(first.instance, question="Whom?"))
    assert case_digest(replace(CASE, earlier=(other,))) != case_digest(with_earlier)
