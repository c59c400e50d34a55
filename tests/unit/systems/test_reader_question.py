"""Terms of a question and of a text, and questions for a number."""

from __future__ import annotations

import pytest

from pytest_rageval.systems.question import asks_for_number, content_terms, numbers, terms


def test_terms_are_folded_and_stemmed() -> None:
    assert terms("Premiered, PREMIERE! in 1234567") == ["premier", "premier", "in", "1234567"]
    assert terms("It opens, opened and is opening") == ["it", "open", "open", "and", "is", "open"]


def test_each_chinese_word_is_a_term_in_order() -> None:
    assert terms("铁路于1911年通车") == ["铁路", "于", "1911", "年", "通车"]


def test_content_terms_are_distinct_and_without_function_words() -> None:
    assert content_terms("What was the name of the railway's railways?") == ["name", "railway"]
    assert content_terms("铁路是什么时候通车的？") == ["铁路", "通车"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How long does the warranty last?", ["warranti", "last"]),
        ("How many days of leave do I get?", ["day", "leav"]),
        ("How often must we change it?", ["chang"]),
        ("Which film ran long?", ["film", "ran", "long"]),
    ],
)
def test_words_that_ask_for_an_amount_are_not_content_terms(question: str, expected: list[str]) -> None:
    assert content_terms(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("图书馆可以借几本书？", ["图书馆", "借", "书"]),
        ("退款需要多久？", ["退款"]),
        ("办理需要几天？", ["办理"]),
    ],
)
def test_chinese_question_words_are_not_content_terms(question: str, expected: list[str]) -> None:
    assert content_terms(question) == expected


def test_a_chinese_count_is_a_separate_term() -> None:
    assert terms("最多可借十本书") == ["最多", "可", "借", "十本", "书"]


def test_a_question_of_only_function_words_keeps_them() -> None:
    assert content_terms("Who was it?") == ["who", "was", "it"]
    assert content_terms("？") == []


@pytest.mark.parametrize(
    "question",
    ["When did it open?", "How many seats are there?", "Release date of the film", "In what year?", "铁路何时通车",
     "有多少座位", "参赛人数", "几点开门", "哪一年竣工"],
)  # fmt: skip
def test_a_question_for_a_number_is_detected(question: str) -> None:
    assert asks_for_number(question)


@pytest.mark.parametrize(
    "question", ["Who opened it?", "How does it work?", "Whenever possible", "谁剪彩", "在哪里", ""]
)
def test_other_questions_do_not_ask_for_a_number(question: str) -> None:
    assert not asks_for_number(question)


def test_numbers_are_digits_and_number_words() -> None:
    assert numbers("In 2022, 1,250 seats, 7.5% and two trains; none") == {"2022", "1,250", "7.5", "two"}
    assert numbers("共三百个座位，2022年") == {"三百", "2022"}
    assert numbers("no one") == {"one"}
    assert numbers("stone") == set()
