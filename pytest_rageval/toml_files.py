"""Read users' TOML files, find the line of a key for messages, and write TOML strings."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError, ascii_safe
from pytest_rageval.folders import regular_path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["headers_of", "line_of", "parse_toml", "read_toml", "toml_string"]

_AT_LINE = re.compile(r"at line (\d+)")

_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f\\]"
_IN_LINE = re.compile(rf'{_CONTROL}|"')
_IN_LINES = re.compile(rf'{_CONTROL}|"(?=""|\Z)')
"""The characters that need an escape in a TOML string on one line, and in one on several lines."""


def read_toml(path: Path, shown: str) -> tuple[list[str], dict[str, Any]]:
    """Return the lines of a file and its content.

    Raises:
        DataError: the file cannot be read, or is not valid TOML; the message begins with ``shown``, the file's name.
    """
    try:
        raw = regular_path(path).read_bytes()
    except OSError as error:
        raise DataError(shown, f"cannot be read: {error.strerror}") from None
    return parse_toml(raw, shown)


def parse_toml(raw: bytes, shown: str) -> tuple[list[str], dict[str, Any]]:
    """Return the lines of a file's bytes and their content; raise `DataError` as `read_toml` does."""
    try:
        text = raw.decode("utf-8-sig")
        return text.splitlines(), tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{shown}:{line}", f"byte 0x{raw[error.start]:02x} is not UTF-8; save it as UTF-8", code="RAG204"
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problem = str(error).replace("at end of document", _end_of(text))
        at = _AT_LINE.search(problem)
        line = int(at[1]) if at else text.count("\n") + 1
        raise DataError(f"{shown}:{line}", f"this is not valid TOML: {ascii_safe(problem)}") from None


def _end_of(text: str) -> str:
    """Return the place of the end of a text, in the form of the TOML parser's messages."""
    lines = text.split("\n")
    return f"at line {len(lines)}, column {len(lines[-1]) + 1}"


def headers_of(lines: list[str], table: str) -> list[int]:
    """Return the index of each line that begins a table ``[[table]]``."""
    header = re.compile(rf"^\s*\[\[\s*{re.escape(table)}\s*\]\]")
    return [at for at, line in enumerate(lines) if header.match(line)]


def line_of(lines: list[str], key: str, start: int, table: str) -> int:
    """Return the line number, from 1, of the first line that sets ``key``.

    Args:
        lines: the lines of the file.
        key: the key.
        start: the index of the line, from 0, where the search starts; if no line sets the key, its number is returned.
        table: the name of the tables in which the key is looked up, also written ``table.key``.
    """
    key_pattern = rf"""["']?{re.escape(key)}["']?\s*(=|\]|\.)"""
    for pattern in (rf"^\s*\[*\s*({re.escape(table)}\s*\.\s*)?{key_pattern}", rf"(?<![\w.-]){key_pattern}"):
        for at in range(start, len(lines)):
            if re.search(pattern, lines[at]):
                return at + 1
    return start + 1


def toml_string(text: str) -> str:
    """Return a text as a TOML string, on several lines if it has line breaks."""
    quotes, escapes = ('"""', _IN_LINES) if "\n" in text else ('"', _IN_LINE)
    body = escapes.sub(lambda match: f"\\{match[0]}" if match[0] in '\\"' else f"\\u{ord(match[0]):04x}", text)
    return quotes + ("\n" if "\n" in text else "") + body + quotes
