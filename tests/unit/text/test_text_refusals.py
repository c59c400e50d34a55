"""Plain refusals: examples, counterexamples, and precision and recall of the rule."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.text.refusals import may_refuse, refuses
from pytest_rageval.text.refusals_en import ENGLISH

LINES = (Path(__file__).resolve().parents[3] / "fixtures" / "refusals" / "answers.jsonl").read_text(encoding="utf-8")
ROWS: list[dict[str, str]] = [json.loads(line) for line in LINES.splitlines()]
CONCLUSION = re.compile(r"\b(?:so|therefore|thus|hence|as a result|making it|without)\b|因此|所以|故", re.IGNORECASE)
REFUSALS = [row["answer"] for row in ROWS if row["label"] == "refusal"]


@pytest.mark.parametrize("half", ["develop", "held-out"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_rule_has_precision_and_recall_of_at_least_90_percent(language: str, half: str) -> None:
    rows = [row for row in ROWS if row["language"] == language and row["half"] == half]
    labelled = {row["answer"] for row in rows if row["label"] == "refusal"}
    detected = {row["answer"] for row in rows if refuses(row["answer"])}
    assert len(labelled) >= 15
    assert len(rows) - len(labelled) >= 15
    assert len(labelled & detected) / len(labelled) >= 0.9
    assert len(labelled & detected) / len(detected) >= 0.9


@pytest.mark.parametrize(
    "text",
    [
        *REJECTION_SENTENCE.values(),
        *(f"{ERROR_SENTENCE[language]} {REJECTION_SENTENCE[language]}" for language in ("en", "zh")),
        "I don’t know.",
        "Sorry, the documents don't say.",
        "The context doesn't mention it. Please check the timetable.",
        "You asked about fares. Unfortunately, the text does not list them.",
        "To compute the ratio we need debt and equity. The excerpt has no balance sheet, so it cannot be computed.",
        "**Not mentioned in the passages.**",
        "Answer: the information is not available in the given sources.",
        "I do not have enough information. The question is about 2022, but the report provided is for 2021.",
        "The text does not list capital expenditure. However, it's important to note that needs vary by industry.",
        "文中没有提到。",
        "抱歉，我不知道。",
        "根据文档，无法确定票价。请咨询售票处。",
    ],
)
def test_a_statement_that_there_is_no_answer_is_a_refusal(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "9:00",
        *ERROR_SENTENCE.values(),
        "No, dogs are not allowed.",
        "No. The documents do not mention any exception.",
        "It opens at 9:00. The documents do not say when it closes.",
        "The documents do not say so, but it opens at 9:00.",
        "Although the documents do not say so, it opens at nine.",
        "The documents do not give the sum. Therefore we add the parts: 3 + 4 = 7 euros.",
        "The text does not name her. It was probably Ida Holm.",
        'A clerk who has no answer says "I do not know".',
        "The report concluded that the cause could not be determined.",
        "没有，博物馆周一不开放。",
        "The text does not name the founder. However, the text suggests that Ida Holm founded it.",
        "There is no evidence that the fire was deliberate.",
        "It does not include breakfast.",
        "文中没有直接说明，但应该是九点。",
        "九点开门，文中没有说明几点关门。",
        "客服回答“我不知道”。",
    ],
)
def test_an_answer_with_a_negation_or_a_caveat_is_not_a_refusal(text: str) -> None:
    assert not refuses(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sales were $9 million. The excerpt has no receivables, so the ratio cannot be calculated.",
        "Sales were $9 million. Receivables are not given in the excerpt. Therefore I cannot calculate the ratio.",
        "Sales were $9 million. No receivables are given in the text, which means the ratio cannot be computed.",
        "营业收入为9亿元，但文中没有应收账款的数据，因此无法计算周转率。",
    ],
)
def test_a_conclusion_without_an_answer_is_a_refusal_even_after_facts(text: str) -> None:
    assert refuses(text)
    assert refuses(f"{text} {'请查阅年报。' if '。' in text else 'Please see the annual report.'}")
    assert not refuses(f"{text} {'大约是9%。' if '。' in text else 'It was probably 9%.'}")


@pytest.mark.parametrize(
    "text",
    [
        "The bridge opened in 1931. The passage does not name the day, so I cannot verify it.",
        "The bridge opened in 1931. The passage does not name the day, so the exact date cannot be determined.",
        "The fire destroyed the archive, so the cause can not be determined.",
        "大桥于1931年通车。证据被毁，因此无法确定设计者。",
    ],
)
def test_a_caveat_about_a_detail_or_about_a_cause_is_not_a_refusal(text: str) -> None:
    assert not refuses(text)


def test_years_and_form_numbers_after_a_refusal_are_not_an_answer() -> None:
    refusal = "The documents do not state the revenue of 2021."
    assert refuses(f"{refusal} See Form 10-K, Item 7, of December 31, 2021.")
    assert not refuses(f"{refusal} Revenue was $48 million.")


def test_refusals_are_searched_only_in_the_given_languages() -> None:
    assert refuses("I do not know.", ["en"])
    assert not refuses("I do not know.", ["zh"])
    assert not refuses("我不知道。", ["en"])
    assert refuses("The documents do not mention 林月.", ["en"])
    assert not refuses("I do not know. 我不知道。", [])
    assert not refuses("Ich weiß es nicht.", ["de"])


@given(st.sampled_from(REFUSALS), st.sampled_from(["\n", "  ", "\n\n", "> ", "**"]))
def test_space_and_markup_around_a_refusal_change_nothing(text: str, mark: str) -> None:
    assert refuses(f"{mark}{text}{mark}") is refuses(text)


@given(st.sampled_from([row for row in ROWS if row["label"] == "refusal"]))
def test_a_text_that_begins_with_yes_is_not_a_refusal(row: dict[str, str]) -> None:
    assert not refuses({"en": "Yes. ", "zh": "是的。"}[row["language"]] + row["answer"])


@given(st.sampled_from([row for row in ROWS if row["label"] == "refusal" and not CONCLUSION.search(row["answer"])]))
def test_a_refusal_after_an_answer_is_a_caveat(row: dict[str, str]) -> None:
    assert not refuses({"en": "It costs 4 euros. ", "zh": "票价为4欧元。"}[row["language"]] + row["answer"])


@pytest.mark.parametrize("unit", ["the document not ", "没有", "i do not clearly ", "= ", ". ", "it "])
def test_a_long_text_is_checked_within_5_seconds(unit: str) -> None:
    start = time.perf_counter()
    refuses(unit * 100_000)
    assert time.perf_counter() - start < 5


def test_every_clause_that_refuses_has_a_hint() -> None:
    clauses = [clause for row in ROWS for clause in ENGLISH.clauses(row["answer"])]
    refusing_clauses = [each for each in clauses if ENGLISH.refusal.search(each) or ENGLISH.closing.search(each)]
    assert len(refusing_clauses) > 100
    assert [each for each in refusing_clauses if not may_refuse(each, "en")] == []
    texts = [row["answer"] for row in ROWS if any(map(ENGLISH.refusal.search, ENGLISH.clauses(row["answer"])))]
    assert [text for text in texts if not may_refuse(text, "en")] == []


@given(st.from_regex(ENGLISH.refusal) | st.from_regex(ENGLISH.closing))
@settings(suppress_health_check=list(HealthCheck))
def test_each_match_of_a_refusal_pattern_has_a_hint(text: str) -> None:
    assert may_refuse(text, "en")
