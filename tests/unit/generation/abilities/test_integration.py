"""Two questions about different documents become one case."""

from __future__ import annotations

import pytest

from pytest_rageval.generation.abilities.integration import integrate, joined_question
from pytest_rageval.model.case import Gold, Instance, Passage, Turn


def record(name: str, question: str, answer: str, page: str, language: str = "en", **more: object) -> Instance:
    passages = (
        Passage(page, f"{page} has {answer}.", role="positive"),
        Passage("noise", "Nothing.", role="negative"),
        Passage(f"{page} noise", "The 12th of all.", role="negative"),
    )
    return Instance(name, question, ((answer,),), passages, provenance=((page,),), language=language, **more)  # type: ignore[arg-type]


SEATS = record("a", "How many seats are there?", "70 seats", "hall")
ROOMS = record("b", "How many rooms does it have?", "12 rooms", "museum")


def test_two_records_become_one_with_two_slots_and_groups() -> None:
    (joined,) = integrate([SEATS, ROOMS]).instances
    assert joined.question == "How many seats are there? And how many rooms does it have?"
    assert joined.gold == (("70 seats",), ("12 rooms",))
    assert [(each.id, each.role, each.group) for each in joined.passages or ()] == [
        ("hall", "positive", 0),
        ("museum", "positive", 1),
        ("noise", "negative", None),
        ("hall noise", "negative", None),
    ]
    assert joined.provenance == (("hall", "museum"),)
    assert joined.id.startswith("integration-")


def test_each_record_is_used_once_and_unused_records_have_a_reason() -> None:
    others = [
        record("c", "How many halls?", "3 halls", "museum"),
        record("d", "有多少座位？", "70座", "剧院", language="zh"),
        Instance("e", "Who and where?", (("Ann",), ("Oslo",)), SEATS.passages),
        Instance("f", "Is it?", (("yes",),), SEATS.passages),
        Instance("g", "And since when?", (("1998",),), SEATS.passages, history=(Turn("Who?", "Ann"),)),
        Instance("h", "Who built it?", (("Ann",),)),
    ]
    result = integrate([SEATS, ROOMS, *others])
    assert len(result.instances) == 1
    assert result.left_out == {"no_partner": 2, "several_slots": 1, "no_gold": 1, "history": 1, "no_positive": 1}
    assert integrate([SEATS, ROOMS, *others]) == result


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (record("b", "How many rooms?", "12 rooms", "hall"), "of the same document"),
        (record("b", "How many rooms, if 70 seats?", "12 rooms", "inn"), "its question states the answer"),
        (record("b", "How many again?", "70 seats", "inn"), "of the same answer"),
        (record("b", "How many seats are there", "12 rooms", "inn"), "of nearly the same question"),
    ],
)
def test_unsuitable_pairs_of_records_are_not_joined(other: Instance, why: str) -> None:
    if why == "of nearly the same question":
        other = record("b", SEATS.question, "12 rooms", "inn")
    assert integrate([SEATS, other]).left_out == {"no_partner": 2}, why


@pytest.mark.parametrize(
    ("one", "other", "language", "joined"),
    [
        ("Who built it", "When was it built?", "en", "Who built it? And when was it built?"),
        ("Who built it?", "NATO was founded when?", "en", "Who built it? And NATO was founded when?"),
        ("谁建的", "哪一年建的？", "zh", "谁建的？另外，哪一年建的？"),
    ],
)
def test_the_second_question_is_appended_to_the_first(one: str, other: str, language: str, joined: str) -> None:
    assert joined_question(one, other, language) == joined


def test_a_record_whose_passage_states_the_other_answer_is_not_paired() -> None:
    gold: Gold = (("12 rooms",),)
    two_answers = Instance("b", "How many rooms?", gold, (Passage("inn", "12 rooms and 70 seats", role="positive"),))
    assert integrate([SEATS, two_answers]).left_out == {"no_partner": 2}


def test_equal_passage_ids_of_two_records_are_made_unique() -> None:
    seats, rooms = (Passage("p0", f"It has {what}.", role="positive") for what in ("70 seats", "12 rooms"))
    one = Instance("a", "How many seats?", (("70 seats",),), (seats,), qrels={"p0": 1})
    two = Instance("b", "How many rooms?", (("12 rooms",),), (rooms,), qrels={"p0": 1})
    (joined,) = integrate([one, two]).instances
    assert [each.id for each in joined.passages or ()] == ["p0", "p0-2"]
