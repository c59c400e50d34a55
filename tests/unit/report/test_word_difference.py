"""The word-by-word difference of two answers."""

from __future__ import annotations

import random
import time

import pytest
from wcwidth import wcswidth

from pytest_rageval.report.text.colours import paint
from pytest_rageval.report.text.word_difference import (
    difference_line,
    excerpt,
    new_side,
    old_side,
    word_difference,
)


def line(old: str, new: str) -> str:
    return difference_line(word_difference(old, new)).text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("The hall is red.", "The hall is red.", "The hall is red."),
        ("", "", ""),
        ("", "New text", "{+New text+}"),
        ("Old text", "", "[-Old text-]"),
        ("the lazy dog ran", "the lazy cat ran", "the lazy [-dog-] {+cat+} ran"),
        ("in 1910 for the town.", "in 1910.", "in 1910[- for the town-]."),
        ("5 of 7 halls", "6 of 8 halls", "[-5 of 7-] {+6 of 8+} halls"),
        ("from 12 rooms", "with 12 halls", "[-from-] {+with+} 12 [-rooms-]{+halls+}"),
        ("公司于2021年成立，注册资本为五千万元", "公司于2022年成立，注册资本为六千万元",
         "公司于[-2021-]{+2022+}年成立，注册资本为[-五-]{+六+}千万元"),
        ("two  spaces\nhere", "two spaces here", "two spaces here"),
    ],
)  # fmt: skip
def test_removed_and_added_words_are_marked(old: str, new: str, expected: str) -> None:
    assert line(old, new) == expected


def test_the_pieces_contain_both_texts() -> None:
    rng = random.Random(7)
    for _ in range(2000):
        old, new = ("".join(rng.choices("ab中文 .1\n", k=rng.randrange(14))) for _ in range(2))
        pieces = word_difference(old, new)
        assert "".join(piece.text for piece in pieces if piece.kind != "removed") == new
        old_text = "".join(piece.text for piece in pieces if piece.kind != "added")
        assert "".join(old_text.split()) == "".join(old.split())
        for columns in (1, 4, 9, 20):
            assert wcswidth("".join(piece.text for piece in excerpt(pieces, columns))) <= columns
            assert wcswidth(difference_line(excerpt(pieces, columns, signs=True)).text) <= columns


@pytest.mark.parametrize("kind", ["edited", "reversed", "repetitive", "other"])
def test_long_answers_are_compared_within_a_second(kind: str) -> None:
    rng = random.Random(1)
    vocabulary = [f"w{n}" for n in range(3000)]
    old = rng.choices("ab" if kind == "repetitive" else vocabulary, k=20_000)
    new = {
        "edited": [rng.choice(vocabulary) if rng.random() < 0.1 else word for word in old],
        "reversed": old[::-1],
        "repetitive": rng.choices("ab", k=20_000),
        "other": rng.choices(vocabulary, k=20_000),
    }[kind]
    start = time.process_time()
    pieces = word_difference(" ".join(old), " ".join(new))
    assert time.process_time() - start < 1
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == " ".join(new)
    if kind == "edited":
        assert sum(len(piece.text) for piece in pieces if piece.kind == "same") > 0.85 * len(" ".join(new))


def test_an_excerpt_shows_the_first_change_of_each_side() -> None:
    text = "The quick brown fox jumps over the lazy {} near the river bank on Sunday"
    pieces = word_difference(text.format("dog"), text.format("cat"))
    old_excerpt, new_excerpt = (
        "".join(p.text for p in excerpt(side, 40)) for side in (old_side(pieces), new_side(pieces))
    )
    assert old_excerpt == "... the lazy dog near the river bank..."
    assert new_excerpt == "... the lazy cat near the river bank..."
    assert difference_line(excerpt(pieces, 40, signs=True)).text == "... the lazy [-dog-] {+cat+} near the..."


def test_an_excerpt_of_the_side_without_the_changed_words_shows_their_place() -> None:
    text = "The hall opened in the year 1910 and it was built {}by the town of Norwood in a year of floods"
    pieces = word_difference(text.format(""), text.format("of red brick "))
    assert "".join(p.text for p in excerpt(old_side(pieces), 44)) == "... was built by the town of Norwood in a..."


def test_an_excerpt_measures_wide_characters() -> None:
    pieces = word_difference("该公司于2021年成立，注册资本为五千万元", "该公司于2022年成立，注册资本为六千万元")
    new_excerpt = "".join(p.text for p in excerpt(new_side(pieces), 20))
    assert new_excerpt == "... 于2022年成立..."
    assert wcswidth(new_excerpt) == 19


def test_changes_are_coloured() -> None:
    difference = difference_line(word_difference("the lazy dog", "the lazy cat"), "now: ")
    assert paint(difference, 0, None) == "now: the lazy [-dog-]{+cat+}"
    assert paint(difference, 16, None) == "now: the lazy \x1b[31m[-dog-]\x1b[0m\x1b[32m{+cat+}\x1b[0m"
