"""Read a script, the TOML file with the replies of a model ``script:FILE.toml``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError, UnknownNameError, short_repr
from pytest_rageval.toml_files import headers_of, line_of, read_toml

__all__ = ["ERROR_KINDS", "ScriptReply", "read_script"]

ERROR_KINDS = (
    "auth", "bad_address", "bad_protocol", "bad_request", "connection", "content_filter", "context_length", "cut_off",
    "empty_reply", "filtered", "malformed_response", "no_tools", "not_found", "rate_limited", "server_error", "timeout",
    "too_large", "truncated",
)  # fmt: skip
"""The kinds of `ModelError` that a script may raise."""

_TABLE = "reply"
_KEYS = ("when", "nth", "text", "tool", "arguments", "raise")
_TEXTS = ("when", "text", "tool", "raise")


@dataclass(frozen=True, slots=True)
class ScriptReply:
    """One ``[[reply]]`` of a script.

    Attributes:
        where: its file and line, for messages.
        when: a text that the last user or tool message must contain; "" fits every message.
        nth: the number of the request within its case, from 1; 0 fits every request.
        text: the text of the reply.
        tool: the tool that the model asks for; "" for none.
        arguments: the tool's arguments, as JSON text.
        error: the kind of `ModelError` that is raised instead; "" for none.
    """

    where: str
    when: str = ""
    nth: int = 0
    text: str = ""
    tool: str = ""
    arguments: str = "{}"
    error: str = ""

    def fits(self, message: str, number: int) -> bool:
        """Return whether the reply fits a request with this last message and this number within its case."""
        return self.when in message and self.nth in (0, number)


def read_script(path: Path, display_name: str) -> tuple[ScriptReply, ...]:
    """Return the replies of a script in their order; ``display_name`` names its file in messages.

    Raises:
        DataError: the file is no TOML, has no reply, or a value is invalid.
        UnknownNameError: a key or an error kind is unknown.
    """
    lines, script = read_toml(path, display_name)
    for key in script:
        if key != _TABLE:
            raise UnknownNameError("key", key, [_TABLE], f"{display_name}:{line_of(lines, key, 0, _TABLE)}")
    entries = script.get(_TABLE)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{display_name}:1", "a script holds one or more [[reply]] tables; add one")
    headers = headers_of(lines, _TABLE)
    starts = headers if len(headers) == len(entries) else [0] * len(entries)
    return tuple(_reply(entry, lines, start, display_name) for entry, start in zip(entries, starts, strict=True))


def _reply(entry: Mapping[str, Any], lines: list[str], start: int, display_name: str) -> ScriptReply:
    for key, value in entry.items():
        where = f"{display_name}:{line_of(lines, key, start, _TABLE)}"
        if key not in _KEYS:
            raise UnknownNameError("key", key, _KEYS, where)
        problem = _problem(key, value)
        if problem:
            raise DataError(where, f"{key}: found {short_repr(value)}, wanted {problem}")
        if key == "raise" and value not in ERROR_KINDS:
            raise UnknownNameError("error kind", value, ERROR_KINDS, where)
    where = f"{display_name}:{start + 1}"
    if problem := _contradiction(entry):
        raise DataError(where, problem)
    arguments = entry.get("arguments", {})
    return ScriptReply(
        where,
        when=entry.get("when", ""),
        nth=entry.get("nth", 0),
        text=entry.get("text", ""),
        tool=entry.get("tool", ""),
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False),
        error=entry.get("raise", ""),
    )


def _problem(key: str, value: object) -> str:
    """Return a description of the valid values of a key if ``value`` is invalid, else ""."""
    if key == "nth":
        valid = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        return "" if valid else "a whole number of 1 or more"
    if key == "arguments":
        return "" if isinstance(value, str) or _is_json(value) else "a table of JSON values, or their text"
    if key == "tool" and value == "":
        return "the name of a tool"
    return "" if key not in _TEXTS or isinstance(value, str) else "a string"


def _is_json(value: object) -> bool:
    """Return whether a TOML value is a table that JSON can represent: without dates, infinity and NaN."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return isinstance(value, dict)


def _contradiction(entry: Mapping[str, Any]) -> str:
    """Return the problem of a reply whose keys contradict each other or are missing; "" for none."""
    if "raise" in entry and ("text" in entry or "tool" in entry):
        return "a reply has raise and text or tool; an error has neither, remove one of them"
    if not entry.keys() & {"text", "tool", "raise"}:
        return "a reply has none of text, tool and raise; give one"
    if "arguments" in entry and "tool" not in entry:
        return "a reply has arguments and no tool; name the tool"
    return ""
