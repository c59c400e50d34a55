from __future__ import annotations

import re
import string
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.squad import EXACT_MATCH, TOKEN_F1, normalize
from pytest_rageval.model.case import Gold

ASCII = st.one_of(
    st.text(st.characters(max_codepoint=127), max_size=40),
    st.lists(st.sampled_from(["the", "The", "a", "an", "cat", "Cat.", "sat", "12.5", "...", "an-d"]), max_size=8).map(
        " ".join
    ),
)


def squad_normalize(text: str) -> str:
    without_punctuation = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", without_punctuation, flags=re.UNICODE).split())


def squad_f1(gold: str, prediction: str) -> float:
    gold_tokens, predicted_tokens = squad_normalize(gold).split(), squad_normalize(prediction).split()
    if not gold_tokens or not predicted_tokens:
        return float(gold_tokens == predicted_tokens)
    n_shared = sum((Counter(gold_tokens) & Counter(predicted_tokens)).values())
    if n_shared == 0:
        return 0.0
    precision, recall = n_shared / len(predicted_tokens), n_shared / len(gold_tokens)
    return (2 * precision * recall) / (precision + recall)


@settings(deadline=None)
@given(ASCII)
def test_normalize_works_like_squad_on_ascii(text: str) -> None:
    assert normalize(text) == squad_normalize(text)


@settings(deadline=None)
@given(ASCII, st.lists(ASCII, min_size=1, max_size=3))
def test_values_equal_those_of_squad_on_ascii(answer: str, aliases: list[str]) -> None:
    answer_sample = sample(answer, slots(aliases))
    assert value(TOKEN_F1, answer_sample) == max(squad_f1(alias, answer) for alias in aliases)
    assert value(EXACT_MATCH, answer_sample) == max(
        float(squad_normalize(a) == squad_normalize(answer)) for a in aliases
    )


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "f1"),
    [
        ("The Eiffel Tower!", slots("eiffel tower"), 1.0, 1.0),
        ("the cat sat on the mat", slots("a cat sat"), 0.0, 2 * (2 / 4) * 1 / (2 / 4 + 1)),
        ("the cat sat", slots(["dog", "cat sat", "cat"]), 1.0, 1.0),
        ("“Paris” — indeed", slots("Paris indeed"), 1.0, 1.0),
        ("ＰＡＲＩＳ", slots("paris"), 1.0, 1.0),
        ("", slots("Paris"), 0.0, 0.0),
        ("Paris", slots("the"), 0.0, 0.0),
        ("", slots("The."), 1.0, 1.0),
        ("cat cat", slots("cat"), 0.0, 2 * 0.5 * 1 / 1.5),
    ],
)
def test_values_equal_those_computed_by_hand(answer: str, gold: Gold, exact: float, f1: float) -> None:
    answer_sample = sample(answer, gold)
    assert value(EXACT_MATCH, answer_sample) == exact
    assert value(TOKEN_F1, answer_sample) == pytest.approx(f1)


def test_several_slots_form_one_reference_of_their_nearest_aliases() -> None:
    gold = slots(["Rome", "city of Rome"], ["1960", "in 1960"])
    assert value(TOKEN_F1, sample("Rome 1960", gold)) == 1.0
    assert value(EXACT_MATCH, sample("Rome 1960", gold)) == 1.0
    assert value(EXACT_MATCH, sample("1960 Rome", gold)) == 0.0
    assert value(TOKEN_F1, sample("1960 Rome", gold)) == 1.0
    assert value(TOKEN_F1, sample("Rome", gold)) == pytest.approx(2 * 1 * 0.5 / 1.5)
    assert value(TOKEN_F1, sample("the city of Rome", gold)) == pytest.approx(2 * 1 * (3 / 4) / (1 + 3 / 4))


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "f1"),
    [
        ("北京。", "北京", 1.0, 1.0),
        ("北 京", "北京", 1.0, 1.0),
        ("中国人民银行", "中国银行", 0.0, 0.0),
        ("我来到北京清华大学", "北京清华大学", 0.0, 2 * (2 / 4) * 1 / (2 / 4 + 1)),
        ("Beijing", "北京", 0.0, 0.0),
    ],
)
def test_chinese_is_split_into_words_not_characters(answer: str, reference: str, exact: float, f1: float) -> None:
    answer_sample = sample(answer, slots(reference), language="zh")
    assert value(EXACT_MATCH, answer_sample) == exact
    assert value(TOKEN_F1, answer_sample) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "f1"),
    [
        ("1,000元", "1000元", 1.0, 1.0),
        ("１,０００元。", "1000 元", 1.0, 1.0),
        ("1.5%", "15%", 0.0, 0.0),
        ("利率为1.5%", "利率为15%", 0.0, 2 / 3),
        ("5％", "5 %", 1.0, 1.0),
        ("5%", "5‰", 0.0, 0.0),
        ("5-10%", "510%", 0.0, 0.0),
        ("为1.5%。", "1.5%", 0.0, 2 / 3),
        ("12.5亿元.", "12.5亿元", 1.0, 1.0),
        ("2020,2021", "2020、2021", 1.0, 1.0),
        ("-1,200万元", "1200万元", 0.0, 0.5),
        ("\u22121,200 万元", "-1200万元", 1.0, 1.0),
        ("1\u00a0200元", "1200元", 1.0, 1.0),
        ("净利润-5%", "净利润5%", 0.0, 0.5),
        ("负5%", "-5%", 1.0, 1.0),
        ("-$5", "$-5", 1.0, 1.0),
        ("$(1,577)", "-1577", 1.0, 1.0),
        (".5%", "0.5%", 1.0, 1.0),
        ("5%-10%", "5%至10%", 0.0, 0.8),
        ("歼-20", "歼20", 1.0, 1.0),
    ],
)
def test_numbers_in_chinese_keep_their_sign_and_decimal_point(
    answer: str, reference: str, exact: float, f1: float
) -> None:
    answer_sample = sample(answer, slots(reference), language="zh")
    assert value(EXACT_MATCH, answer_sample) == exact
    assert value(TOKEN_F1, answer_sample) == pytest.approx(f1)


def test_numbers_in_english_lose_sign_and_decimal_point_as_in_squad() -> None:
    assert value(EXACT_MATCH, sample("1.5%", slots("15%"))) == 1.0
    assert value(EXACT_MATCH, sample("1.5%", slots("15%"), language="zh")) == 0.0
    assert value(EXACT_MATCH, sample("-5%", slots("5%"))) == 1.0
    assert value(EXACT_MATCH, sample("-5%", slots("5%"), language="zh")) == 0.0


@settings(deadline=None)
@given(st.text("北京上海 a.，1,%-", max_size=12), st.text("北京上海 a.，1,%-", max_size=12))
def test_an_exact_match_shares_every_token(answer: str, reference: str) -> None:
    answer_sample = sample(answer, slots(reference))
    assert value(EXACT_MATCH, answer_sample) != 1.0 or value(TOKEN_F1, answer_sample) == 1.0


def test_chinese_slots_may_be_joined_by_any_punctuation() -> None:
    answer_sample = sample("北京、上海", slots("北京", "上海"), language="zh")
    assert value(EXACT_MATCH, answer_sample) == 1.0
    assert value(TOKEN_F1, answer_sample) == 1.0


def test_a_case_without_gold_is_not_applicable_and_a_slot_without_aliases_scores_0() -> None:
    assert value(TOKEN_F1, sample("Rome")) == "not_applicable: no_gold"
    assert value(EXACT_MATCH, sample("Rome")) == "not_applicable: no_gold"
    assert value(TOKEN_F1, sample("Rome", ((),))) == 0.0
    assert value(EXACT_MATCH, sample("Rome", ((),))) == 0.0
    assert value(TOKEN_F1, sample("Rome", ((), ("Rome",)))) == 1.0


@pytest.mark.parametrize(("answer", "reference"), [("1.5", "15"), ("-5", "5"), ("\u22125", "-5"), ("It\u2212s", "its")])
def test_english_normalisation_drops_the_decimal_point_and_the_minus(answer: str, reference: str) -> None:
    assert (
        value(EXACT_MATCH, sample(answer, slots(reference))) == value(TOKEN_F1, sample(answer, slots(reference))) == 1
    )


@pytest.mark.parametrize("reference", ["\x01", "\x015", "5\x01"])
def test_a_control_character_is_not_a_minus(reference: str) -> None:
    assert value(TOKEN_F1, sample("-5", slots(reference), language="zh")) == 0.0
