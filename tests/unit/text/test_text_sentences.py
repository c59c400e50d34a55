"""Texts are split into sentences."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.text.sentences import sentences


@pytest.mark.parametrize(
    "marked",
    [
        "The firm grew.| It earned 3.5 million in 2021.| Then it fell!| Why?| Nobody knows...| It ended.",
        "Dr. Smith met J. K. Rowling and Mrs. Xu in St. Louis.| They talked.",
        "He works at Apple Inc. in Cupertino.| She works at Acme Corp.| The two met.",
        "The U.S. Army is in the U.S.| It is big.",
        "No. 5 won, e.g. on Sept. 11, 2001.| See Fig. 3 and pp. 4 ff.| Nobody said no.| It ended.",
        "Smith et al. 2020 vs. Jones, i.e. all of Ph.D. Students' work.",
        'He said “Yes.”| She said (no.)| “Then go!” he cried.| "Really?" she asked.',
        "He left.| “I stay,” she said.| (So did he.)| [End]",
        "1. First item.| 2. Second item.",
        "It ended in 2010.| 25 people left.",
        "Yahoo! is a firm.| AT&amp;T is one; too.",
        "NATO met.| He lacks vitamin C.| The end.",
        "See example.com/a.b?c=d for v1.2.3 of it.",
        "One.\n|two\n\n|three",
        "“你好！”|他说。|他问：“为什么？”，我不知道。|「好。」|她答。",
        "今天涨了3.5%。|明天呢？|不知道！|也许；|再说……|好",
        "真的吗？！|真的。。。|好",
        "第一，增长;|第二，下降!|第三. |完",
        "（见图1。）|完。",
        "版本1.5.3已发布. |Done.",
        "苹果.com 是网站。",
    ],
)
def test_texts_are_split_into_sentences(marked: str) -> None:
    assert sentences(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


def test_line_ends_end_sentences_and_empty_lines_are_dropped() -> None:
    assert sentences("One\r\n\n  two \u2028three\n \n") == ["One", "two", "three"]
    assert sentences("") == []
    assert sentences(" \n ") == []


@given(st.text(st.one_of(st.characters(exclude_categories=()), st.sampled_from(' .!?。”"ANo1;…中\n'))))
def test_sentences_keep_everything_but_white_space(text: str) -> None:
    parts = sentences(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(part and part == part.strip() for part in parts)


@pytest.mark.parametrize("unit", [" ", "\n", ".", "A. ", "a. ", "1. A ", "。”", "!?", "…", '."', " \n", "x", "中;"])
def test_splitting_takes_linear_time(unit: str) -> None:
    start = time.perf_counter()
    sentences(unit * (500_000 // len(unit)) + "x")
    assert time.perf_counter() - start < 10, (
        "half a million characters take half a second; a quadratic step takes minutes"
    )
