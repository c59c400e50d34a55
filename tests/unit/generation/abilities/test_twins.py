"""Counterfactual twins: what they change, and which passages get none."""

from __future__ import annotations

import pytest

from pytest_rageval.generation.abilities.answer_reading import is_decided, read_answer
from pytest_rageval.generation.abilities.counterfactuals import Counterfactual, make_counterfactual
from pytest_rageval.model.case import Gold, Instance, Passage

NAMES = (
    ("Ann Lee", "Bo Ek"),
    ("Oslo", "New Oslo", "Bergen"),
    ("Apple", "Meta Works"),
    ("Reading", "Bath"),
    ("Bath", "Hull"),
)


def counterfactual(gold: str | Gold, *texts: str, question: str = "What is it?") -> Counterfactual:
    passages = [Passage(f"p{at}", text, role="positive") for at, text in enumerate(texts)]
    return make_counterfactual(
        Instance("q1", question, ((gold,),) if isinstance(gold, str) else gold), passages, 0, NAMES
    )


def reason(gold: str, text: str) -> str:
    lie = counterfactual(gold, text)
    assert lie.reason is not None, lie.twins
    return lie.reason.reason


@pytest.mark.parametrize(
    ("gold", "text", "why"),
    [
        ("70", "The hall has 70 seats and 70 rooms.", "ambiguous_value"),
        ("6", "She won 7–6, 6–3.", "answer_not_in_passage"),
        ("29", "新华社3月29日电，有人29日透露。", "old_value_left"),
        ("3", "She won 6-1, 6-3.", "answer_not_in_passage"),
        ("11", "Of the 11, 9 guests and 2 of the crew died.", "ambiguous_value"),
        ("$40 million", "It cost $40 million (36 million euros).", "ambiguous_value"),
        ("$70", "It costs $70-$80.", "ambiguous_value"),
        ("$70", "It costs $70-$80, or $70 in May.", "ambiguous_value"),
        ("$80", "It costs $80. In May it was $70 to $80.", "ambiguous_value"),
        ("$70", "Seats from $70–$80 a day.", "ambiguous_value"),
        ("70", "Ferries of 70 seats-80 seats.", "ambiguous_value"),
        ("70", "From $70-$80.", "ambiguous_value"),
        ("80 kg", "Crates from 70 kg - 80 kg, at most 80 kg.", "ambiguous_value"),
        ("70", "It has between 70 and 80 seats, 70 in winter.", "ambiguous_value"),
        ("70元", "票价从70元~80元。", "ambiguous_value"),
        ("5 March 2019", "It lasted from 5 March 2019 to 8 March 2019.", "ambiguous_value"),
        ("5 March 2019", "It opened on 5 March 2019; on 5 March all came.", "ambiguous_value"),
        ("5 March 2019", "It opened on 5 March 2019 (05/03/2019).", "ambiguous_value"),
        ("70", "It has 70 seats, in words seventy.", "old_value_left"),
        ("1998", "It opened in 1998, and the 1998–99 season was short.", "old_value_left"),
        ("Ann Lee", "Ann Lee built it. Lee Street is near.", "ambiguous_name"),
        ("Ann Lee", "Ann Lee built it. Bob Lee paid.", "ambiguous_name"),
        ("Ann Lee", "Ann Lee built it. Ann was young.", "ambiguous_name"),
        ("Ann Lee", "Ann Lee built it with J. Lee.", "ambiguous_name"),
        ("Oslo", "It is in Oslo, not in New Oslo.", "ambiguous_name"),
        ("Bath", "It is in Bath.", "ambiguous_name"),  # two lists have it
        ("Apple", "Apple sells an apple.", "old_value_left"),
        ("70", "It has 84 seats.", "answer_not_in_passage"),
        ("1", "It has 1 seat.", "no_other_value"),
        ("0", "It has 0 seats.", "no_rule_for_answer"),
        ("Windows 2000", "It runs Windows 2000.", "no_rule_for_answer"),
        ("骁龙835", "处理器是骁龙835。", "no_rule_for_answer"),
        ("70 seats or 12 rooms", "It has 70 seats or 12 rooms.", "no_rule_for_answer"),
        ("70 of the best seats of the house", "70 of the best seats of the house", "no_rule_for_answer"),
    ],
)
def test_a_passage_without_a_twin_has_the_reason(gold: str, text: str, why: str) -> None:
    assert reason(gold, text) == why


@pytest.mark.parametrize(
    ("gold", "before", "after"),
    [
        ("Ann Lee", "ANN LEE built it; Mr Lee paid. Lee’s house.", "BO EK built it; Mr Ek paid. Ek’s house."),
        ("Ann Lee", "Founded by Ann Lee. Lee left. When Lee left", "Founded by Bo Ek. Ek left. When Ek left"),
        ("Oslo", "In Oslo, Oslo's hall.", "In Bergen, Bergen's hall."),
        ("Apple", "Apple's shop", "Meta Works's shop"),
    ],
)
def test_names_change_in_every_form(gold: str, before: str, after: str) -> None:
    assert counterfactual(gold, before).twins["p0"].text == after


def test_a_number_changes_everywhere_and_each_place_keeps_its_notation() -> None:
    lie = counterfactual(
        "$1,500 million", "It cost $1,500 million.", "It cost $1.50bn in all", "１，５００ million dollars"
    )
    (fake,) = lie.fake[0]
    digits = fake.removeprefix("$").removesuffix(" million")
    millions = int(digits.replace(",", ""))
    wide = digits.translate(str.maketrans("0123456789,", "０１２３４５６７８９，"))
    assert [each.text for each in lie.twins.values()] == [
        f"It cost {fake}.", f"It cost ${millions / 1000:.2f}bn in all", f"{wide} million dollars"
    ]  # fmt: skip
    assert 600 <= millions <= 1200 or 1800 <= millions <= 3750


def test_a_year_with_the_same_digits_as_the_number_does_not_change() -> None:
    (text,) = (each.text for each in counterfactual("1,000 seats", "1000年, The hall has 1,000 seats.").twins.values())
    assert text.startswith("1000年, The hall has ")
    assert "1,000" not in text


def test_all_passages_state_the_same_lie_and_passages_without_the_answer_are_reported() -> None:
    lie = counterfactual("70", "It has 70 seats.", "Seats: 70", "It has seats.")
    assert {name: drop.reason for name, drop in lie.dropped.items()} == {"p2": "answer_not_in_passage"}
    fake = lie.fake[0][0]
    assert [each.text for each in lie.twins.values()] == [f"It has {fake} seats.", f"Seats: {fake}"]
    assert [each.role for each in lie.twins.values()] == ["counterfactual"] * 2


def test_every_gold_slot_changes_in_text_and_title() -> None:
    gold: Gold = (("70",), ("5 March 2019", "March 5, 2019"))
    passage = Passage(
        "p0", "It has 70 seats since March 5, 2019.", title="Hall of 70", role="positive", page="hall", span=(0, 9)
    )
    twin = make_counterfactual(Instance("q1", "What is it?", gold), [passage]).twins["p0"]
    lie = make_counterfactual(Instance("q1", "What is it?", gold), [passage]).fake
    assert twin.title == f"Hall of {lie[0][0]}"
    assert twin.text == f"It has {lie[0][0]} seats since {lie[1][1]}."
    assert (twin.page, twin.span) == ("", None)


def test_a_whole_date_keeps_its_weekday() -> None:
    import datetime

    lie = counterfactual("5 March 2019", "Tuesday, 5 March 2019")
    day = datetime.datetime.strptime(lie.fake[0][0], "%d %B %Y").replace(tzinfo=datetime.timezone.utc)
    assert day.strftime("%A") == "Tuesday"


def test_the_question_must_not_state_the_lie() -> None:
    question = "Is it " + ", ".join(str(n) for n in [*range(28, 57), *range(84, 99)]) + " or what?"
    assert counterfactual("70", "It has 70 seats.", question=question).fake == (("99",),)


def test_a_lie_that_overlaps_the_gold_is_not_decided() -> None:
    answer = read_answer(("70",))
    assert not is_decided("How many?", ("70",), ("70.4",), "number")
    assert not is_decided("Who?", ("Ann Lee",), ("Ann Lee Reed",), "name")
    assert is_decided("How many?", ("70",), ("84",), "number")
    assert answer.kind == "number"  # type: ignore[union-attr]


@pytest.mark.parametrize(("gold", "passages", "why"), [((), 1, "no_gold"), ((("70",),), 0, "no_positive")])
def test_a_case_without_gold_or_positive_passage_has_no_twin(gold: Gold, passages: int, why: str) -> None:
    lie = make_counterfactual(Instance("q1", "How many?", gold), [Passage("p0", "70", role="positive")] * passages)
    assert lie.reason is not None
    assert lie.reason.reason == why


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("2003年", "据悉，2003年3月5日，大桥通车。"),
        ("1998", "公司成立于1998，2003年上市。"),
        ("2003年3月5日", "大桥于1998年动工，2003年3月5日，大桥通车。"),
    ],
)
def test_a_date_after_a_full_width_comma_changes(gold: str, text: str) -> None:
    lie = counterfactual(gold, text, question="何时？")
    assert lie.reason is None
    assert lie.twins["p0"].text == text.replace(gold.removesuffix("年"), lie.fake[0][0].removesuffix("年"))
