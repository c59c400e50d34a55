"""Data texts are escaped for text fields of a page and restored afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.report.html.visible_text import INVISIBLE
from pytest_rageval.web.text_fields import field_text, text_of_field

ODD = st.text(st.characters() | st.sampled_from("\\u{}0AF\r\n\t\0\u202e\ud800\U000e0041"))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain\ttext\n中文 é", "plain\ttext\n中文 é"),
        ("a\u202eb\0\ud800", "a\\u{202E}b\\u{0}\\u{D800}"),
        ("one\r\ntwo", "one\\u{D}\ntwo"),
        ("\\u{202E} \\n \\\\u{0}", "\\u{5C}u{202E} \\n \\\\u{5C}u{0}"),
        ("\\u{zz} \\u{}", "\\u{zz} \\u{}"),
    ],
)
def test_invisible_characters_are_written_by_code(text: str, escaped: str) -> None:
    assert field_text(text) == escaped
    assert text_of_field(escaped) == text


@given(ODD)
def test_an_unedited_text_comes_back_unchanged(text: str) -> None:
    field = field_text(text)
    assert not INVISIBLE.search(field)
    assert text_of_field(field) == text
    assert text_of_field(field.replace("\n", "\r\n")) == text  # a form sends CRLF


def test_a_code_beyond_unicode_stays() -> None:
    assert text_of_field("\\u{110000} \\u{FFFFFF}") == "\\u{110000} \\u{FFFFFF}"
