"""The extractive reader: which sentences it answers with, and when it declines."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace

import pytest

from pytest_rageval.errors import CaseError
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.case import Passage, Query
from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.systems.extractive import LONGEST_ANSWER, extractive
from pytest_rageval.text.words import words

ENGLISH = (
    "The harbour ferry leaves from the east pier. It carries bicycles. Tickets are sold on board.",
    "Snow closed several roads last week. The Alpine railway was opened by Ida Holm. Crowds came to see it.",
    "A museum of clocks stands in the old town. Its oldest clock still runs.",
)
CHINESE = (
    "港口渡轮从东码头出发。船上可以携带自行车。",
    "上周大雪封闭了多条道路。高山铁路由林月剪彩通车。人群前来观看。",
    "老城有一座钟表博物馆。最古老的钟仍在走动。",
)


def query(question: str, *texts: str, language: str = "en") -> Query:
    return Query(question, tuple(Passage(f"d{i}", text) for i, text in enumerate(texts)), language=language)


def test_the_sentence_that_answers_is_the_answer() -> None:
    answer = extractive(query("Who opened the Alpine railway?", *ENGLISH))
    assert answer.text == "The Alpine railway was opened by Ida Holm."
    assert answer.abstained is False


@pytest.mark.parametrize("question", ["Who opened the Alpine railway?", "Which comet returns in spring?"])
def test_an_answer_costs_nothing(question: str) -> None:
    free = Usage(prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
    assert extractive(query(question, *ENGLISH)).usage == free


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("码头可以停几艘船？", "码头最多可停八艘船。"),
        ("换票需要多久？", "换票在两天内完成。"),
        ("渡轮可以载几辆汽车？", "渡轮可载四十辆汽车。"),
    ],
)
def test_plain_chinese_questions_are_answered(question: str, expected: str) -> None:
    passages = ("码头最多可停八艘船。", "换票在两天内完成。", "渡轮可载四十辆汽车。")
    assert extractive(query(question, *passages, language="zh")).text == expected


def test_chinese_passages_are_read_by_sentence() -> None:
    answer = extractive(query("高山铁路由谁剪彩？", *CHINESE, language="zh"))
    assert answer.text == "高山铁路由林月剪彩通车。"


@pytest.mark.parametrize(
    ("language", "question", "texts"),
    [("en", "Who designed the Tidal lighthouse?", ENGLISH), ("zh", "潮汐灯塔的设计师是谁？", CHINESE)],
)
def test_weak_evidence_is_rejected_in_the_language_of_the_query(
    language: str, question: str, texts: tuple[str, ...]
) -> None:
    answer = extractive(query(question, *texts, language=language))
    assert answer.text == REJECTION_SENTENCE[language]
    assert answer.abstained is True


def test_only_more_than_half_of_the_question_is_evidence() -> None:
    question = "Who opened the Alpine railway?"
    assert extractive(query(question, "The railway opened with a feast for everybody.")).abstained is False
    assert extractive(query(question, "The railway is closed to everybody in winter.")).abstained is True
    assert extractive(query("Alpine railway", "The railway is closed to everybody in winter.")).abstained is True


def test_half_of_the_question_is_evidence_in_a_passage_that_holds_all_of_it() -> None:
    question = "When does the harbour open?"
    answer = extractive(query(question, "Welcome to the harbour. It opens at 9:00."))
    assert answer.text.startswith("It opens at 9:00.")
    assert answer.abstained is False
    assert extractive(query(question, "Welcome to the harbour.", "It opens at 9:00.")).abstained is True


def test_a_title_counts_for_the_sentences_under_it() -> None:
    rag_query = Query("Who opened the Alpine railway?", (Passage("d", "It was opened by Ida Holm.", "Alpine railway"),))
    assert extractive(rag_query).text == "It was opened by Ida Holm."
    assert extractive(replace(rag_query, passages=(Passage("d", "It was opened by Ida Holm."),))).abstained is True


def test_a_question_for_a_number_needs_a_number_that_it_does_not_hold() -> None:
    question = "When was the Alpine railway of 1905 opened?"
    assert extractive(query(question, "The Alpine railway of 1905 was opened with a feast.")).abstained is True
    with_year = "The Alpine railway was opened in 1911."
    assert extractive(query(question, "The Alpine railway of 1905 was opened.", with_year)).text.startswith(with_year)


def test_a_contradiction_is_reported_before_the_answer() -> None:
    one, other = "The Alpine railway was opened by Ida Holm.", "The Alpine railway was opened by Per Dahl."
    answer = extractive(query("Who opened the Alpine railway?", one, other))
    assert answer.text == f"{ERROR_SENTENCE['en']} {one}"
    assert answer.abstained is False
    chinese = ("高山铁路于1911年由林月剪彩通车。", "高山铁路于1923年由林月剪彩通车。")
    assert extractive(query("高山铁路何时剪彩通车？", *chinese, language="zh")).text.startswith(ERROR_SENTENCE["zh"])


def test_passages_that_agree_appear_once() -> None:
    text = "The Alpine railway was opened by Ida Holm."
    assert extractive(query("Who opened the Alpine railway?", text, text, text)).text == text


def test_an_answer_is_short() -> None:
    texts = [f"Alpine railway opened: {' '.join(f'{letter}{n}' for letter in 'abcdefgh')}." for n in range(50)]
    answer = extractive(query("Who opened the Alpine railway?", *texts))
    assert LONGEST_ANSWER / 2 < len(words(answer.text)) <= LONGEST_ANSWER


def test_ties_keep_the_order_of_the_passages() -> None:
    one, other = "Alpine railway opener: Ida Holm waved.", "Alpine railway opener: Per Dahl spoke."
    question = "Alpine railway opener"
    assert extractive(query(question, one, other)).text.startswith(one)
    assert extractive(query(question, other, one)).text.startswith(other)


def test_ids_and_roles_do_not_change_the_answer() -> None:
    rag_query = query("Who opened the Alpine railway?", *ENGLISH)
    passages = rag_query.passages or ()
    for ids in (("p0", "n0", "n1"), ("n0", "p0", "w0"), ("w0", "w1", "p0"), ("", "", "")):
        renamed = tuple(replace(p, id=name) for p, name in zip(passages, ids, strict=True))
        marked = tuple(replace(p, role="negative", group=1) for p in renamed)
        assert extractive(replace(rag_query, passages=renamed)) == extractive(rag_query)
        assert extractive(replace(rag_query, passages=marked)) == extractive(rag_query)


def test_the_order_of_the_passages_decides_only_ties() -> None:
    rag_query = query("Who opened the Alpine railway?", *ENGLISH)
    passages = list(rag_query.passages or ())
    for seed in range(6):
        random.Random(seed).shuffle(passages)
        assert extractive(replace(rag_query, passages=tuple(passages))) == extractive(rag_query)


def test_instructions_do_not_change_the_answer() -> None:
    rag_query = query("Who opened the Alpine railway?", *ENGLISH)
    assert extractive(replace(rag_query, instructions="Answer: Per Dahl")) == extractive(rag_query)


def test_the_answer_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from pytest_rageval.model.case import Passage, Query\n"
        "from pytest_rageval.systems.extractive import extractive\n"
        "texts = [f'Alpine line {i % 4} opened {i} by x{i}. Line {i} of the Alps. Opened: {i}.' for i in range(9)]\n"
        "print(extractive(Query('When was Alpine line 3 opened?', tuple(Passage('', t) for t in texts))))\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout != b""


def test_a_query_without_passages_is_an_error_of_the_case() -> None:
    with pytest.raises(CaseError, match="the case supplies no passages") as caught:
        extractive(Query("Who opened the Alpine railway?"))
    assert caught.value.kind == "no_passages"


def test_a_language_without_phrases_is_answered_in_english() -> None:
    assert extractive(query("¿Quién?", language="es")).text == REJECTION_SENTENCE["en"]
