from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.squad import EXACT_MATCH, TOKEN_F1
from pytest_rageval.metrics.published.kilt_compat import (
    KILT_EM_COMPAT,
    KILT_F1_COMPAT,
    KILT_HAS_ANSWER_COMPAT,
    KILT_ROUGE_L_COMPAT,
)
from pytest_rageval.model.case import Gold
from pytest_rageval.model.metric import Metric

METRICS = [KILT_EM_COMPAT, KILT_F1_COMPAT, KILT_ROUGE_L_COMPAT]
TEXT = st.lists(st.sampled_from(["the", "cat", "Cat.", "on", "12.5", ".", "É", " "]), max_size=6).map(" ".join)


@pytest.mark.parametrize(
    ("answer", "gold", "em", "f1"),
    [
        ("The Eiffel Tower!", slots("eiffel tower"), 1.0, 1.0),
        ("Rome, Italy", slots(["Rome", "Lima"]), 0.0, 2 / 3),
        ("", slots("The."), 0.0, 0.0),
        ("the", slots("a"), 1.0, 0.0),
        ("...", slots(["Rome", " "]), 0.0, 0.0),
        ("“Rome”", slots("Rome"), 0.0, 0.0),
        ("ＲＯＭＥ", slots("rome"), 0.0, 0.0),
        ("1.5%", slots("15%"), 1.0, 1.0),
    ],
)
def test_em_and_f1_equal_those_computed_by_hand(answer: str, gold: Gold, em: float, f1: float) -> None:
    assert value(KILT_EM_COMPAT, sample(answer, gold)) == em
    assert value(KILT_F1_COMPAT, sample(answer, gold)) == pytest.approx(f1)


def test_our_metrics_score_the_same_answers_like_squad() -> None:
    for answer, gold in (("", "The."), ("the", "a"), ("“Rome”", "Rome")):
        assert value(EXACT_MATCH, sample(answer, slots(gold))) == value(TOKEN_F1, sample(answer, slots(gold))) == 1.0


def test_rouge_l_equals_the_value_computed_by_hand() -> None:
    # sentences "a b c" and " d a", reference "b c d": shared are b c and d; 4 and 3 distinct words
    assert value(KILT_ROUGE_L_COMPAT, sample("a b c. d a", slots("b c d"))) == pytest.approx(
        2 * 0.75 / (0.75 + 1 + 1e-8)
    )
    # the decimal point ends a sentence: "12" and "5" may come in any order
    assert value(KILT_ROUGE_L_COMPAT, sample("5.12", slots("12.5"))) == pytest.approx(1 / (1 + 5e-9))
    assert value(KILT_ROUGE_L_COMPAT, sample("b a", slots("a b"))) == pytest.approx(2 * 0.25 / (1 + 1e-8))
    assert value(KILT_ROUGE_L_COMPAT, sample("...", slots("a"))) == 0.0
    assert value(KILT_ROUGE_L_COMPAT, sample("a", slots("."))) == 0.0
    assert value(KILT_ROUGE_L_COMPAT, sample("a. b", slots("a. . b"))) == pytest.approx(2 * 2 / 3 / (1 + 2 / 3))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_an_empty_answer_scores_0_and_a_case_without_gold_is_not_applicable(metric: Metric) -> None:
    assert value(metric, sample(" ", slots("Rome"))) == 0.0
    assert value(metric, sample("Rome")) == "not_applicable: no_gold"
    assert value(metric, sample("Rome", slots(["", " "]))) == "not_applicable: no_gold"


def test_has_answer_normalises_like_kilt() -> None:
    assert value(KILT_HAS_ANSWER_COMPAT, sample("ＲＯＭＥ", slots("Rome"))) == 0.0
    assert value(KILT_HAS_ANSWER_COMPAT, sample("in Rome.", slots("the Rome"))) == 1.0


@given(TEXT, TEXT)
def test_an_equal_answer_has_the_full_score_and_more_references_never_lower_it(answer: str, other: str) -> None:
    if not answer.strip():
        return
    for metric, perfect in ((KILT_EM_COMPAT, 1.0), (KILT_ROUGE_L_COMPAT, 1 / (1 + 5e-9))):
        single_reference = value(metric, sample(answer, slots(answer)))
        assert single_reference == pytest.approx(
            perfect if metric is KILT_EM_COMPAT or answer.strip(". ") or " " in answer.strip() else 0.0
        )
        assert value(metric, sample(answer, slots([other, answer]))) == single_reference
