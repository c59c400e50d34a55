"""Encode and decode a recording as one line of JSON that people can review."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pytest_rageval.errors import DataError
from pytest_rageval.llm.recordings.request import KEY_DIGITS, Request
from pytest_rageval.llm.secrets import mask_json
from pytest_rageval.model.stored_json import parse_json

__all__ = ["Line", "as_json", "key_of", "record_of", "to_line"]

_START = b'{"key": "'
_KEY_END = len(_START) + KEY_DIGITS
_FIELDS = {"key": str, "kind": str, "model": str, "params": dict, "messages": object, "repeat": int, "response": dict}
_NOT_ASCII = re.compile(r"[^ -~]")
_ASTRAL = 0x10000
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, allow_nan=False).encode


class Line(NamedTuple):
    """A record's line in its file.

    Attributes:
        number: line number, from 1.
        text: the line without its end.
    """

    number: int
    text: bytes


def to_line(request: Request, response: Mapping[str, Any], depends: Mapping[str, str] | None = None) -> bytes:
    """Return a record as one line of UTF-8, without line end, with secrets of the environment masked.

    ``depends`` has the digest of each dependency of the response; None for a model.
    """
    parts = {
        "key": request.key,
        "kind": request.kind,
        "model": request.model,
        "params": request.params,
        "messages": request.messages,
        "repeat": request.repeat,
        **({} if depends is None else {"depends": dict(depends)}),
        "response": mask_json(response),
    }
    text = ", ".join(f'"{name}": {as_json(value)}' for name, value in parts.items())
    return f"{{{text}}}".encode()


def as_json(value: object) -> str:
    """Return a value as one readable line of JSON; control characters are escaped."""
    text = _encode(value)
    return text if text.isprintable() else _NOT_ASCII.sub(_escape, text)


def record_of(path: Path, line: Line) -> dict[str, Any]:
    """Return the record in a line of the file ``path``; raise `DataError` if it is malformed."""
    try:
        record = parse_json(str(line.text, "utf-8"))
    except ValueError:
        record = None
    if (
        isinstance(record, dict)
        and all(isinstance(record.get(name), kind) for name, kind in _FIELDS.items())
        and isinstance(record.get("depends", {}), dict)
    ):
        return record
    problem = "this line is no recording; take it out, or restore the file, or delete the file and record again"
    raise DataError(f"{path}:{line.number}", problem, code="RAG412")


def key_of(path: Path, line: Line) -> str:
    """Return the key of a line's record; parse the whole line only if another tool has written it."""
    text = line.text
    if text.startswith(_START) and text.startswith(b'", "', _KEY_END) and text.endswith(b"}}"):
        return str(text[len(_START) : _KEY_END], "ascii", "replace")
    key: str = record_of(path, line)["key"]
    return key


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if character < chr(_ASTRAL) else json.dumps(character)[1:-1]
