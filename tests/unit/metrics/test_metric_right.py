from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.metrics.matching import slot_hits
from pytest_rageval.metrics.right import answer_hits, is_right
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
    ],
)
def test_an_answer_with_the_numbers_of_an_alias_meets_it(gold: str, answer: str) -> None:
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
        ("twenty", "20"),
        ("The gain was $20 billion", f"{'x ' * 6000}$20 billion"),
    ],
)
def test_other_names_other_numbers_and_doubts_do_not(gold: str, answer: str) -> None:
    assert answer_hits(record(gold), answer) == (None,)


def test_the_first_alias_that_is_met_is_returned_for_each_slot() -> None:
    instance = Instance("q", "?", (("a cost of $5", "5 dollars"), ("Rome",)))
    assert answer_hits(instance, "$5") == ("5 dollars", None)
    assert answer_hits(Instance("q", "?"), "$5") == ()
    assert not is_right(instance, "$5")
    assert is_right(instance, "$5 in Rome")


@given(st.text("5 $%.-aZ元亿", max_size=8), st.text("5 $%.-aZ元亿", max_size=12))
def test_what_is_contained_is_right(alias: str, text: str) -> None:
    instance = record(alias)
    assert slot_hits(instance.gold, text) != (alias,) or answer_hits(instance, text) == (alias,)
