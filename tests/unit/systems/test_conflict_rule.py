"""The rule for contradictions between sentences of different passages."""

from __future__ import annotations

import pytest

from pytest_rageval.systems.conflict import MAX_SENTENCES, Sentence, contradict
from pytest_rageval.systems.question import asks_for_number, content_terms, terms


def conflict(question: str, *texts: str) -> bool:
    sentences = [Sentence(position, text, terms(text)) for position, text in enumerate(texts)]
    return contradict(sentences, content_terms(question), number=asks_for_number(question))


WHEN = "When did the Alpine railway open?"
WHO = "Who opened the Alpine railway?"


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (WHEN, "The Alpine railway opened in 1911 after years.", "The Alpine railway opened in 1923 after years."),
        (WHEN, "The Alpine railway opened on 4 May 1911.", "The Alpine railway opened on 17 June 1911."),
        (WHO, "The Alpine railway was opened by Ida Holm.", "The Alpine railway was opened by Per Dahl."),
        (WHO, "Ida Holm opened the Alpine railway with a speech.", "Per Dahl opened the Alpine railway with a speech."),
        ("高山铁路哪一年通车？", "高山铁路经过施工于1911年正式通车。", "高山铁路经过施工于1923年正式通车。"),
        ("高山铁路连接哪座城市？", "高山铁路从山谷出发一直通到北京的车站。", "高山铁路从山谷出发一直通到上海的车站。"),
        ("高山大厅有多少座位", "高山大厅翻新之后一共有70个座位可用。", "高山大厅翻新之后一共有170个座位可用。"),
    ],
)  # fmt: skip
def test_the_same_sentence_with_another_fact_is_a_contradiction(question: str, one: str, other: str) -> None:
    assert conflict(question, one, other)
    assert conflict(question, other, one)


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (WHEN, "The Alpine railway opened in 1911.", "The Alpine railway opened in 1911."),
        (WHEN, "The Alpine railway opened in 1911.", "In 1923 the railway called Alpine was opened."),
        (WHEN, "The Alpine railway at last opened in 1911.", "The Alpine railway finally opened in 1911."),
        (WHEN, "The Alpine railway opened in May 1911.", "The Alpine railway opened in spring 1911."),
        (WHEN, "The Alpine railway has 1,000 metres of tunnels.", "The Alpine railway has 1000 metres of tunnels."),
        (WHO, "The Alpine railway was opened by Ida Holm.", "The Alpine railway was opened by Ida."),
        (WHO, '"The Alpine railway is open," said Holm.', '"The Alpine railway is open," Holm said.'),
        (WHO, "The Alpine railway was formally opened by Ida.", "The Alpine railway was solemnly opened by Ida."),
        (WHO, "Ida Holm opened the Alpine railway in 1911.", "Ida Holm opened the Alpine railway in 1923."),
        ("Who won the 2021 cup?", "The 2021 cup was won by the Blues.", "The 2022 cup was won by the Blues."),
        ("Who won the 2021 cup?", "The 2021 cup was won by the Blues.", "The 2022 cup was won by the Reds."),
        ("高山铁路连接哪座城市？", "高山铁路从山谷出发通到北京。", "湖滨铁路从山谷出发通到北京。"),
    ],
)  # fmt: skip
def test_other_sentences_do_not_contradict(question: str, one: str, other: str) -> None:
    assert not conflict(question, one, other)
    assert not conflict(question, other, one)


def test_a_passage_does_not_contradict_itself() -> None:
    sentences = [
        Sentence(0, text, terms(text))
        for text in ("The Alpine railway opened in 1911.", "The Alpine railway opened in 1923.")
    ]
    assert not contradict(sentences, content_terms(WHEN), number=True)


def test_a_long_span_is_not_a_contradiction() -> None:
    frame = "The Alpine railway, which is long and steep and famous all over the land, opened {} after six years."
    assert conflict(WHO, frame.format("under Ida Holm"), frame.format("under Per Dahl"))
    assert not conflict(WHO, frame.format("under Ida Maria Luise Holm"), frame.format("under Per Nils Olav Dahl"))


def test_only_the_best_sentences_are_compared() -> None:
    one, other = "The Alpine railway opened in 1911.", "The Alpine railway opened in 1923."
    fillers = [f"filler {'word ' * i}" for i in range(MAX_SENTENCES - 1)]
    assert not conflict(WHEN, one, *fillers, other)
    assert conflict(WHEN, one, *fillers[1:], other)


def test_no_sentence_contradicts_nothing() -> None:
    assert not conflict(WHEN)
    assert not conflict(WHEN, "The Alpine railway opened in 1911.")
