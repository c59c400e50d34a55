"""Texts of the data in text fields, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.report.html.visible_text import INVISIBLE
from pytest_rageval.web.text_fields import field_text, text_of_field

ODD = st.text(st.characters() | st.sampled_from("\\u{}0AF\r\n\t\0\u202e\ud800\U000e0041"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n中文 é", "plain\ttext\n中文 é"),
        ("a\u202eb\0\ud800", "a\\u{202E}b\\u{0}\\u{D800}"),
        ("one\r\ntwo", "one\\u{D}\ntwo"),
        ("\\u{202E} \\n \\\\u{0}", "\\u{5C}u{202E} \\n \\\\u{5C}u{0}"),
        ("\\u{zz} \\u{}", "\\u{zz} \\u{}"),
    ],
)
def test_invisible_characters_are_written_by_code(text: str, shown: str) -> None:
    assert field_text(text) == shown
    assert text_of_field(shown) == text


@given(ODD)
def test_what_nobody_edits_comes_back_unchanged(text: str) -> None:
    field = field_text(text)
    assert not INVISIBLE.search(field)
    assert text_of_field(field) == text
    assert text_of_field(field.replace("\n", "\r\n")) == text  # as a form sends it


def test_a_code_beyond_unicode_stays() -> None:
    assert text_of_field("\\u{110000} \\u{FFFFFF}") == "\\u{110000} \\u{FFFFFF}"
