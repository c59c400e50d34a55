"""Texts are written as TOML that reads back as the same text."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.toml_files import toml_string

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", '"plain"'),
        ('a "b" \\', r'"a \"b\" \\"'),
        ("two\nlines", '"""\ntwo\nlines"""'),
        ('"""\n"', '"""\n\\"""\n\\""""'),
        ("\x00\r\x7f\t", '"\\u0000\\u000d\\u007f\t"'),
    ],
)
def test_a_text_is_written_readably(text: str, expected: str) -> None:
    assert toml_string(text) == expected


@given(st.text('"\\\n\r\t a\x00\x7fé', max_size=12))
def test_a_text_reads_back(text: str) -> None:
    assert tomllib.loads(f"text = {toml_string(text)}\n") == {"text": text}
