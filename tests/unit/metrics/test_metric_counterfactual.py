from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.counterfactual import ERROR_CORRECTION_RATE, ERROR_DETECTION_RATE, FAKE_ANSWER_RATE
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Gold, Passage

FLAG = "There are factual errors in the provided documents."
REJECTION = "I can not answer the question because of the insufficient information in documents."
GOLD, FAKE = slots("Rome"), slots("Lima")


@pytest.mark.parametrize(
    ("text", "detected", "corrected", "fake"),
    [
        (f"{FLAG} It was Rome.", 1.0, 1.0, 0.0),
        (f"{FLAG} It was Lima.", 1.0, 0.0, 0.0),
        (f"{FLAG} {REJECTION}", 1.0, 0.0, 0.0),
        (f"{FLAG} {REJECTION} Perhaps Rome.", 1.0, 1.0, 0.0),  # a guess is an answer
        (f"{FLAG} The documents do not name Rome.", 1.0, 0.0, 0.0),
        ("It was Lima.", 0.0, "not_applicable: no_error_flagged", 1.0),
        ("It was Rome, not Lima.", 0.0, "not_applicable: no_error_flagged", 0.0),
        ("There are no factual errors: it was Lima.", 0.0, "not_applicable: no_error_flagged", 1.0),
        ("", 0.0, "not_applicable: no_error_flagged", 0.0),
    ],
)
def test_values_equal_those_computed_by_hand(text: str, detected: float, corrected: float | str, fake: float) -> None:
    answer_sample = sample(text, GOLD, fake=FAKE)
    assert value(ERROR_DETECTION_RATE, answer_sample) == detected
    assert value(ERROR_CORRECTION_RATE, answer_sample) == corrected
    assert value(FAKE_ANSWER_RATE, answer_sample) == fake


def test_chinese_answers_are_scored() -> None:
    gold, fake = slots("北京"), slots("上海")
    right = sample("提供文档的文档存在事实性错误。答案是北京。", gold, fake=fake, language="zh")
    wrong = sample("答案是上海。", gold, fake=fake, language="zh")
    assert value(ERROR_CORRECTION_RATE, right) == 1.0
    assert value(FAKE_ANSWER_RATE, right) == 0.0
    assert value(FAKE_ANSWER_RATE, wrong) == 1.0


def test_a_case_without_gold_or_fake_answer_is_not_applicable() -> None:
    assert value(ERROR_DETECTION_RATE, sample(FLAG)) == 1.0
    assert value(ERROR_CORRECTION_RATE, sample(FLAG)) == "not_applicable: no_gold"
    assert value(FAKE_ANSWER_RATE, sample("Lima", GOLD)) == "not_applicable: no_fake_answer"
    assert value(FAKE_ANSWER_RATE, sample("Lima", fake=FAKE)) == "not_applicable: no_gold"


@pytest.mark.parametrize(
    ("gold", "fake", "text", "expected"),
    [
        (slots("70"), slots("170"), "There are 170.", 1.0),
        (slots("70"), slots("170"), "There are 70.", 0.0),
        (slots("Rome"), slots("ROME"), "Rome", "not_applicable: fake_contains_gold"),
        (slots("Rome"), slots(["New Rome", "Rome II"]), "New Rome", "not_applicable: fake_contains_gold"),
        (slots("Rome"), slots(["New Rome", "Lima"]), "Lima", 1.0),
        (slots("Rome", "1960"), slots("New Rome", "1961"), "New Rome in 1961", 1.0),
        (slots("Rome", "1960"), slots("New Rome", "May 1960"), "", "not_applicable: fake_contains_gold"),
        (slots("Rome", "1960"), slots("Lima", "1961"), "Lima", 0.0),
        (slots("New Rome"), slots("Rome"), "Rome", 1.0),
    ],
)
def test_a_false_answer_that_contains_the_gold_answer_cannot_be_scored(
    gold: Gold, fake: Gold, text: str, expected: float | str
) -> None:
    assert value(FAKE_ANSWER_RATE, sample(text, gold, fake=fake)) == expected


def test_metrics_are_not_applicable_without_a_false_passage() -> None:
    answer_sample = sample(f"{FLAG} Rome, not Lima", GOLD, fake=FAKE, evidence=True)
    for metric in (ERROR_DETECTION_RATE, ERROR_CORRECTION_RATE, FAKE_ANSWER_RATE):
        assert value(metric, answer_sample) == "not_applicable: no_counterfactual_passage"
        without_passages = replace(answer_sample, case=replace(answer_sample.case, supplied=()))
        assert value(metric, without_passages) == "not_applicable: no_counterfactual_passage"
        with_false_passage = (*(answer_sample.case.supplied or ()), Passage("w0", "Lima.", role="counterfactual"))
        assert isinstance(
            value(metric, replace(answer_sample, case=replace(answer_sample.case, supplied=with_false_passage))), float
        )


def test_a_passage_without_a_role_counts_as_possibly_false() -> None:
    answer_sample = sample(f"{FLAG} It was Rome.", GOLD, fake=FAKE, evidence=True)
    for supplied in ((Passage("d0", "Lima."),), (*(answer_sample.case.supplied or ()), Passage("d0", "Lima."))):
        with_passage = replace(answer_sample, case=replace(answer_sample.case, supplied=supplied))
        assert value(ERROR_DETECTION_RATE, with_passage) == 1.0
        assert value(ERROR_CORRECTION_RATE, with_passage) == 1.0
        assert value(FAKE_ANSWER_RATE, with_passage) == 0.0
        without_flag = replace(with_passage, answer=Answer("It was Lima."))
        assert value(ERROR_DETECTION_RATE, without_flag) == 0.0
        assert value(FAKE_ANSWER_RATE, without_flag) == 1.0


def test_each_metric_has_its_direction() -> None:
    assert ERROR_DETECTION_RATE.higher_is_better
    assert ERROR_CORRECTION_RATE.higher_is_better
    assert not FAKE_ANSWER_RATE.higher_is_better
