from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.metrics.shared.right_answer import answer_hits, is_right
from pytest_rageval.model.case import Instance


def record(*aliases: str, question: str = "How much did the sale gain?") -> Instance:
    return Instance("q", question, gold=(aliases,))


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("Acme made a gain of about $20 billion.", "Acme gained approximately 20 billion dollars."),
        ("The gain was $2,018mn", "It is $2,018 million."),
        ("净利润为5亿元", "净利润是500,000,000元。"),
        ("0.05", "5%"),
        ("January 6, 2021", "on 2021-01-06"),
        ("Approximately 44% in FY2022", "In FY2022 it was 44 percent."),
        ("3 cars were sold", "They sold 3 cars."),
        ("the third quarter of 2020", "In 2020, the third quarter."),
        ("Acme paid Bolt $5 million", "Acme has paid 5 million dollars to Bolt."),
        ("twice at 100 km/h", "at 100 kilometres per hour, twice"),
    ],
)
def test_an_answer_with_the_numbers_and_words_of_an_alias_is_right(gold: str, answer: str) -> None:
    assert slot_hits(((gold,),), answer) == (None,)
    assert answer_hits(record(gold), answer) == (gold,)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("Messi, 35 goals", "Ronaldo, with 35 goals"),
        ("姆巴佩打进35球", "罗纳尔多打进35球"),
        ("No, by 35 goals", "Now it is 35 goals"),
        ("The gain was $20 billion", "It was $20 million"),
        ("The gain was $20 billion", "It rose from $10 billion to $20 billion"),
        ("The gain was $20 billion", "It was not $20 billion"),
        ("-5%", "5%"),
        ("The gain was $20 billion", f"{'x ' * 6000}$20 billion"),
    ],
)
def test_an_answer_with_other_names_or_numbers_or_a_negation_is_not_right(gold: str, answer: str) -> None:
    assert answer_hits(record(gold), answer) == (None,)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("5 mg", "5 g"),
        ("12 inches", "12 cm"),
        ("5 gallons", "5 litres"),
        ("5 nights", "5 days"),
        ("3 cars", "3 boats"),
        ("5 votes", "5 seats"),
        ("5亩", "5公顷"),
        ("5 feet", "5 yards"),
        ("5寸", "5尺"),
        ("100 km/h", "100 mph"),
        ("100 km/h", "100 m/s"),
        ("A$5", "US$5"),
    ],
)
def test_an_answer_with_another_unit_is_not_right(gold: str, answer: str) -> None:
    assert answer_hits(record(gold), f"It is {answer}.") == (None,)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("consumer segment, 0.9%", "health care segment, 0.9%"),
        ("aspirin 500 mg", "ibuprofen 500 mg"),
        ("the third quarter of 2020", "the fourth quarter of 2020"),
        ("the americas with $20 million", "europe with $20 million"),
        ("doubled to 10", "halved to 10"),
        ("18 or older", "18 or younger"),
        ("top 5", "bottom 5"),
        ("a deficit of $5 million", "a surplus of $5 million"),
        ("5% annually", "5% monthly"),
        ("$5 per hour", "$5 per day"),
        ("in march 2020", "in may 2020"),
        ("first half of 2020", "second half of 2020"),
        ("Acme paid Bolt $5 million", "Bolt paid Acme $5 million"),
        ("5 km north of Rome", "5 km south of Rome"),
        ("9:00 in the morning", "9:00 in the evening"),
        ("his 5 sons", "her 5 sons"),
        ("from 2010", "to 2010"),
        ("in 5 days", "5 days ago"),
        ("5 A", "5 V"),
        ("x = 5", "y = 5"),
        ("甲公司3亿元", "乙公司3亿元"),
        ("马，35公斤", "牛，35公斤"),
        ("前5名", "后5名"),
    ],
)
def test_an_answer_with_other_words_around_the_number_is_not_right(gold: str, answer: str) -> None:
    assert answer_hits(record(gold, question="Which?"), answer) == (None,)


@pytest.mark.parametrize(
    ("question", "gold", "answer"),
    [
        ("Was aspirin or ibuprofen given?", "aspirin 500 mg", "ibuprofen 500 mg"),
        ("How many came on Monday?", "5 on Monday", "5 on Tuesday"),
        ("How far north is it?", "5 km to the north", "5 km to the south"),
        ("公司上半年赚了多少？", "上半年5亿元", "下半年5亿元"),
    ],
)
def test_a_word_in_the_question_does_not_make_its_opposite_right(question: str, gold: str, answer: str) -> None:
    assert answer_hits(record(gold, question=question), answer) == (None,)
    assert answer_hits(record(gold, question=question), f"It is {gold}") == (gold,)


def test_the_first_matching_alias_of_each_slot_is_returned() -> None:
    instance = Instance("q", "?", (("a cost of $5", "5 dollars"), ("Rome",)))
    assert answer_hits(instance, "$5") == ("5 dollars", None)
    assert answer_hits(Instance("q", "?"), "$5") == ()
    assert not is_right(instance, "$5")
    assert is_right(instance, "$5 in Rome")


@given(st.text("5 $%.-aZ元亿", max_size=8), st.text("5 $%.-aZ元亿", max_size=12))
def test_a_contained_alias_is_a_right_answer(alias: str, text: str) -> None:
    instance = record(alias)
    assert slot_hits(instance.gold, text) != (alias,) or answer_hits(instance, text) == (alias,)
