from __future__ import annotations

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.containment import ACCURACY, HAS_ANSWER, SLOT_RECALL
from pytest_rageval.model.case import Gold
from pytest_rageval.model.metric import Metric

TWO_SLOTS = slots(["Rome", "Roma"], "1960")


@pytest.mark.parametrize(
    ("text", "accuracy", "slot_recall", "has_answer"),
    [
        ("The 1960 games were held in Roma.", 1.0, 1.0, 1.0),
        ("The games were held in Rome.", 0.0, 0.5, 1.0),
        ("The games of 21960 were held in Lima.", 0.0, 0.0, 0.0),
        ("", 0.0, 0.0, 0.0),
        ("I can not answer because of the insufficient information in documents, but Rome, 1960.", 1.0, 1.0, 1.0),
    ],
)
def test_values_for_two_slots_equal_those_computed_by_hand(
    text: str, accuracy: float, slot_recall: float, has_answer: float
) -> None:
    answer_sample = sample(text, TWO_SLOTS)
    assert value(ACCURACY, answer_sample) == accuracy
    assert value(SLOT_RECALL, answer_sample) == slot_recall
    assert value(HAS_ANSWER, answer_sample) == has_answer


def test_slot_recall_is_a_share_of_the_slots_not_of_the_aliases() -> None:
    assert value(SLOT_RECALL, sample("a b", slots(["a", "b", "c"], "x", "y"))) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("gold", "text", "expected"),
    [
        (slots("70"), "共有170个席位", 0.0),
        (slots("70"), "共有70个席位", 1.0),
        (slots("8强"), "他们进入了 18 强", 0.0),
        (slots("净利润5亿元"), "2023 年净利润 5 亿元。", 1.0),
        (slots(["SE 3", "SE3"]), "新款 SE 3 手机", 1.0),
        (slots("1577"), "It was $1,577 million.", 1.0),
        (slots("$1577.00"), "It was $1,577 million.", 1.0),
        (slots("5%"), "同比-5%", 0.0),
        (slots("The change was $20bn"), "It changed by 20 billion dollars.", 1.0),
        (slots("The change was $20bn"), "It was 20 billion dollars.", 0.0),
    ],
)
def test_chinese_and_numbers_are_matched(gold: Gold, text: str, expected: float) -> None:
    assert value(ACCURACY, sample(text, gold, language="zh")) == expected


def test_a_right_answer_stays_right_despite_a_declared_abstention() -> None:
    assert value(ACCURACY, sample("Rome 1960", TWO_SLOTS, abstained=True)) == 1.0


@pytest.mark.parametrize("metric", [ACCURACY, SLOT_RECALL, HAS_ANSWER], ids=lambda metric: metric.name)
def test_a_case_without_gold_is_not_applicable(metric: Metric) -> None:
    assert value(metric, sample("Rome")) == "not_applicable: no_gold"
