"""Gold answers and gold pages are marked in printed text."""

from __future__ import annotations

import pytest
from support.samples.attack_texts import ATTACKS

from pytest_rageval.commands.chains.gold_marks import GoldMarks


@pytest.mark.parametrize(
    ("text", "aliases", "lines"),
    [
        ("It opens at 9:00.", ["9:00"], ["It opens at >>9:00<<."]),
        ("in PARIS or paris", ["Paris"], ["in >>PARIS<< or >>paris<<"]),
        ("a.b axb", ["a.b"], [">>a.b<< axb"]),
        ("costs 170", ["70"], ["costs 170"]),
        ("New York City", ["New York", "York City"], [">>New York City<<"]),
        ("New\nYork", ["New York"], [">>New", "York<<"]),
        ("nothing", ["", "  ", "\u200b"], ["nothing"]),
        ("red \x1b[31m\r\u202e Rome\x00", ["Rome"], ["red \\x1b[31m\\r\\u202e >>Rome<<\\x00"]),
    ],
)
def test_gold_answers_are_marked_and_controls_escaped(text: str, aliases: list[str], lines: list[str]) -> None:
    assert list(GoldMarks((tuple(aliases),)).lines(text)) == lines


def test_marks_are_coloured_line_by_line() -> None:
    marks = GoldMarks((("New York",),), {"d1"}, colours=True)
    assert list(marks.lines("New\nYork!")) == ["\x1b[1;32m>>New\x1b[0m", "\x1b[1;32mYork<<\x1b[0m!"]
    assert marks.page("d1") == "\x1b[1;32m>>d1<<\x1b[0m"
    assert marks.page("d2") == "d2"


def test_a_slot_is_missing_if_no_text_contains_it() -> None:
    marks = GoldMarks((("Paris", "City of Light"), ("two",), ("$1,577 million",)))
    assert marks.answers_missing_in(["the city of light", "2 museums"]) == ["$1,577 million"]
    assert marks.answers_missing_in([]) == ["Paris / City of Light", "two", "$1,577 million"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_control_character_reaches_the_terminal(attack: str) -> None:
    marks = GoldMarks((("Rome", "right"), ("best label",)))
    assert all(line.isprintable() for line in marks.lines(ATTACKS[attack]))
    assert marks.page(ATTACKS[attack]).isprintable()
