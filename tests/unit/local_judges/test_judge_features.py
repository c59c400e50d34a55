"""Features of local judges: one example each, computed by hand."""

from __future__ import annotations

import math

import pytest

from pytest_rageval.local_judges.features import COSINES, RULES, JudgeInput, cosine, rule_values

PRICE = JudgeInput("What does a ticket cost?", (("9 euros",),), "A ticket costs 9 euros.")
REFUSAL = JudgeInput(PRICE.question, PRICE.gold, "The documents do not say what a ticket costs. I cannot answer.")


def input_of(answer: str, gold: str = "9 euros", question: str = PRICE.question, language: str = "en") -> JudgeInput:
    return JudgeInput(question, ((gold,),) if gold else (), answer, language)


@pytest.mark.parametrize(
    ("name", "judge_input", "value"),
    [
        ("number_right", PRICE, 1),
        ("number_right", input_of("A ticket costs 19 euros."), 0),
        ("number_wrong", input_of("A ticket costs 19 euros."), 1),
        ("number_wrong", PRICE, 0),
        ("number_none", input_of("Ask at the desk.", gold="At the desk"), 1),
        ("number_none", PRICE, 0),
        ("contains", PRICE, 1),
        ("contains", input_of("Nothing."), 0),
        ("contains", input_of("Nothing.", gold=""), 0),
        # answer: ticket costs 9 euros, gold: 9 euros; 2 shared of 4 and of 2 tokens
        ("token_f1", PRICE, 2 * 0.5 * 1 / 1.5),
        ("token_f1", input_of("Nothing.", gold=""), 0),
        # the longest common sequence is "9" because "euros." keeps its full stop: 1 of 5 tokens and 1 of 2
        ("rouge_l", PRICE, 2 * 0.2 * 0.5 / 0.7),
        ("refuses", REFUSAL, 1),
        ("refuses", PRICE, 0),
        ("refusals", REFUSAL, 2),
        ("refusals", input_of(" ".join(["I cannot answer."] * 9)), 5),
        ("length", input_of("123"), math.log(4)),
        ("gold_length", input_of("x", gold="1234567"), math.log(8)),
        ("yes_no", input_of("No, it is free."), 1),
        ("yes_no", input_of("Nobody pays."), 0),
        ("yes_no", input_of("不是，免费。", language="zh"), 1),
        ("yes_no", input_of("不知道。", language="zh"), 0),
        ("same_polarity", input_of("Yes.", gold="Yes, it does"), 1),
        ("same_polarity", input_of("Yes.", gold="No."), 0),
        ("same_polarity", input_of("It does.", gold="It does."), 0),
        ("gold_has_number", input_of("x", gold="9 euros"), 1),
        ("gold_has_number", input_of("x", gold="三元"), 1),
        ("gold_has_number", input_of("x", gold="一元"), 0),
        ("gold_has_number", input_of("x", gold="at the desk"), 0),
    ],
)
def test_a_feature_has_the_value_computed_by_hand(name: str, judge_input: JudgeInput, value: float) -> None:
    assert RULES[name].compute(judge_input) == pytest.approx(value)


def test_cosines_compare_the_texts_in_their_names() -> None:
    texts = {name: (one(PRICE), other(PRICE)) for name, (one, other, _) in COSINES.items()}
    assert texts == {
        "cos_question_answer": (PRICE.question, PRICE.answer),
        "cos_gold_answer": ("9 euros", PRICE.answer),
        "cos_question_gold": (PRICE.question, "9 euros"),
    }


def test_a_cosine_has_the_value_computed_by_hand() -> None:
    assert cosine((1, 0), (1, 1)) == 0.7071
    assert cosine((1, 2), (-1, -2)) == -1
    assert math.isnan(cosine((0, 0), (1, 1)))
    assert math.isnan(cosine((math.inf, 0), (1, 1)))


def test_no_feature_needs_a_gold_answer() -> None:
    assert all(math.isfinite(value) for value in rule_values(input_of("", gold="", question="")))
