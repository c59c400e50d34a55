"""NFKC normalization that takes linear time on hostile texts."""

from __future__ import annotations

import sys
import time
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.text.unicode import nfkc


@given(st.text(st.characters(exclude_categories=()), max_size=25))
def test_short_texts_get_the_standard_form(text: str) -> None:
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


def test_long_runs_of_other_characters_are_normalized_as_usual() -> None:
    assert nfkc("—" * 100) == "—" * 100
    assert nfkc("＊" * 100) == "*" * 100


def test_a_long_run_of_marks_is_broken_up_once() -> None:
    text = nfkc("e" + "\u0323\u0301" * 100)
    assert text.count("\u034f") == 6
    assert nfkc(text) == text
    assert nfkc("x" + "\u0344" * 40) == nfkc(nfkc("x" + "\u0344" * 40))


def test_every_combining_mark_is_found_by_the_search_for_runs() -> None:
    marks = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code))]
    assert [mark for mark in marks if mark.isalnum() or mark.isspace() or mark.isascii()] == []


def test_alternating_marks_take_linear_time() -> None:
    start = time.perf_counter()
    nfkc("a" + "\u0301\u0323" * 200_000)
    assert time.perf_counter() - start < 10, "the standard library alone needs minutes"
