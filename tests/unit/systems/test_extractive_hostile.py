"""The extractive reader with hostile or very long passages."""

from __future__ import annotations

import time

import pytest

from pytest_rageval.model.case import Passage, Query
from pytest_rageval.model.phrases import REJECTION_SENTENCE
from pytest_rageval.systems.extractive import extractive

QUESTION = "Who opened the Alpine railway in 1911?"
ANSWER = "The Alpine railway was opened in 1911 by Ida Holm."
MEBIBYTE = 1 << 20


def read(*texts: str, question: str = QUESTION) -> tuple[str, bool | None]:
    answer = extractive(Query(question, tuple(Passage("", text) for text in texts)))
    return answer.text, answer.abstained


@pytest.mark.parametrize(
    "texts", [(), ("",), ("", " ", "\n\n"), ("...", "?!", "——", "。。。"), ("\0\0",), ("\u202e\u200f",), ("\ud800",)]
)
def test_passages_without_words_are_rejected(texts: tuple[str, ...]) -> None:
    assert read(*texts) == (REJECTION_SENTENCE["en"], True)


@pytest.mark.parametrize("question", ["", "   ", "?!", "\u202e", "。"])
def test_a_question_without_words_is_rejected(question: str) -> None:
    assert read(ANSWER, question=question) == (REJECTION_SENTENCE["en"], True)


@pytest.mark.parametrize("text", ["", "...", "\u202e", "\0" * 100, "word " * 1000, "字" * 1000, "🙂" * 1000])
def test_a_hostile_passage_does_not_hide_the_answer(text: str) -> None:
    assert read(text, ANSWER, text) == (ANSWER, False)


def test_direction_marks_in_a_passage_do_not_hide_its_words() -> None:
    text = "The \u202eAlpine\u202c railway\u200f was opened in \u20671911\u2069 by Ida Holm."
    assert read(text) == (text, False)


@pytest.mark.parametrize(
    "text",
    ["The Alpine railway was opened in 1911 by Ida Holm. " * 20_000, "alpine railway opened 1911 " * 40_000,
     "a" * MEBIBYTE, "高山铁路于1911年通车。" * 32_000, "高" * (MEBIBYTE // 3), " " * MEBIBYTE, "\n" * MEBIBYTE,
     "." * MEBIBYTE, "a. " * (MEBIBYTE // 3), '"' * MEBIBYTE, "1" * MEBIBYTE, "1," * (MEBIBYTE // 2)],
    ids=["sentences", "no-stop", "one-word", "zh", "zh-one-word", "spaces", "lines", "stops", "short", "quotes",
         "digits", "number"],
)  # fmt: skip
def test_a_passage_of_a_mebibyte_is_read_in_seconds_and_its_answer_is_short(text: str) -> None:
    start = time.perf_counter()
    answer, _ = read(text, question="When was the Alpine railway opened? 高山铁路通车")
    assert time.perf_counter() - start < 20
    assert len(answer) < 2000
