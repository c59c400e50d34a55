"""Folded texts with offsets into the original, and the longest shared run."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_rageval.text.folding import fold_compact, fold_with_offsets, shared_run

hard_texts = st.text(
    st.one_of(st.characters(), st.sampled_from("aßİſﬁ½é\u0301\u0345\u1100\u1161\u11a8ﾊﾞ　ς中\u09c7\u09be"))
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Opens  at\n9:00", "opensat9:00"),
        ("ＡＢＣ　，１２", "abc,12"),
        ("Straße ﬁne", "strassefine"),
        ("cafe\u0301 É", "caféé"),
        ("中 文\n字", "中文字"),
    ],
)
def test_a_text_is_folded(text: str, folded: str) -> None:
    assert fold_compact(text) == fold_with_offsets(text).text == folded


@given(hard_texts)
def test_offsets_do_not_change_the_folded_text(text: str) -> None:
    folded = fold_with_offsets(text)
    assert folded.text == fold_compact(text)
    assert len(folded.starts) == len(folded.ends) == len(folded.text)
    assert list(folded.starts) == sorted(folded.starts)


@given(hard_texts, hard_texts, hard_texts)
def test_a_quote_is_found_in_place(before: str, quote: str, after: str) -> None:
    quote = f"a{quote}"
    assume("☃" not in quote)
    text = f"{before}☃{quote}☃{after}"
    spans = dict(fold_with_offsets(text).find(fold_compact(quote)))
    start = len(before) + 1
    assert start in spans
    assert fold_compact(text[start : spans[start]]) == fold_compact(quote)


@pytest.mark.parametrize(
    ("text", "quote", "spans"),
    [
        ("The museum\n  OPENS at 9:00. It opens at 9:00.", "opens at 9:00", [(13, 26), (31, 44)]),
        ("x ﬁne", "ine", [(2, 5)]),
        ("Straße", "sse", [(4, 6)]),
        ("cafe\u0301s", "É", [(3, 5)]),
        ("一二三 四五", "三四", [(2, 5)]),
        ("aaaa", "aa", [(0, 2), (2, 4)]),
        ("abc", "d", []),
        ("abc", "", []),
    ],
)
def test_spans_are_positions_in_the_original_text(text: str, quote: str, spans: list[tuple[int, int]]) -> None:
    assert list(fold_with_offsets(text).find(fold_compact(quote))) == spans


@pytest.mark.parametrize(
    ("needle", "text", "run"),
    [("abcdef", "xxabcdefxx", (0, 6)), ("abcdef", "bcd-ef", (1, 4)), ("abab", "ab", (0, 2)), ("abc", "xyz", (0, 0))],
)
def test_the_longest_shared_run_is_located(needle: str, text: str, run: tuple[int, int]) -> None:
    assert shared_run(needle, text) == run


@given(st.text("ab", max_size=9), st.text("ab", max_size=9))
def test_no_shared_run_is_longer(needle: str, text: str) -> None:
    runs = [(i, j) for i in range(len(needle)) for j in range(i, len(needle) + 1) if needle[i:j] in text]
    begin, end = shared_run(needle, text)
    assert needle[begin:end] in text
    assert end - begin == max((j - i for i, j in runs), default=0)
