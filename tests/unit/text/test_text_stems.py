"""Stems of words."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_rageval.text.stems import LONGEST, stem


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("open opens opened opening", "open"),
        ("ticket tickets", "ticket"),
        ("premiere premiered", "premier"),
        ("city cities", "citi"),
        ("founded founding", "found"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(words: str, expected: str) -> None:
    assert {stem(word) for word in words.split()} == {expected}


@pytest.mark.parametrize("word", ["", "2022", "3rd", "a_b", "铁路", "高山铁路", "é", "a" * (LONGEST + 1)])
def test_other_words_are_their_own_stems(word: str) -> None:
    assert stem(word) == word


def test_stems_are_correct_in_concurrent_threads() -> None:
    words = [f"opening{letter}s" for letter in "abcdefghijklmnop"] * 50
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(stem.__wrapped__, words)) == [stem(word) for word in words]


def test_the_stemmer_is_not_imported_before_the_first_word() -> None:
    program = "import sys, pytest_rageval.systems.extractive; print('snowballstemmer' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
