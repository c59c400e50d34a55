"""Convert texts of the data to the text fields of a page and back without loss."""

from __future__ import annotations

import re

from pytest_rageval.report.html.visible_text import INVISIBLE

__all__ = ["field_text", "text_of_field"]

_ESCAPED = re.compile(r"\\u\{([0-9A-F]{1,6})\}")
_LOOKS_ESCAPED = re.compile(r"\\(?=u\{[0-9A-F]{1,6}\})")


def field_text(text: str) -> str:
    r"""Return a text for a text field, with invisible characters as ``\u{202E}``.

    HTML cannot contain all of them, and people must see what they change.
    """
    literal = _LOOKS_ESCAPED.sub(lambda _: r"\u{5C}", text)
    return INVISIBLE.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", literal)


def text_of_field(value: str) -> str:
    r"""Return the text of a submitted text field: ``\u{202E}`` becomes its character, line ends become ``\n``."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    return _ESCAPED.sub(lambda match: _character(match), lines)


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code <= 0x10FFFF else match[0]
