"""Edit values of a chain's file in place; keep comments, order and line endings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pytest_rageval.errors import DataError, UnknownNameError
from pytest_rageval.toml_files import headers_of, parse_toml, toml_string

__all__ = ["EDITABLE", "ChainEdit", "edit_chain"]

EDITABLE = ("prompt", "prompt_python", "query", "query_python", "k", "model", "text", "expression")
"""The keys of an action that can be edited; in a message, ``content`` can be edited, too."""

_BY_HAND = "cannot be changed by position; change it in the file by hand"


@dataclass(frozen=True, slots=True)
class ChainEdit:
    """A new value for a key of an action, or of one of its messages.

    Attributes:
        action: the name of the action.
        key: one of `EDITABLE`, or ``content`` of a message.
        value: the value.
        message: the index of the message; None for a key of the action itself.
    """

    action: str
    key: str
    value: str | int
    message: int | None = None


def edit_chain(raw: bytes, edits: Iterable[ChainEdit], file_name: str) -> bytes:
    """Return the bytes of a chain's file with new values; everything else stays unchanged.

    Add a key that an action does not have yet below the action's ``do``.

    Args:
        raw: the bytes of the file.
        edits: at most one for each key of an action.
        file_name: the name of the file in messages.

    Raises:
        DataError: the file is not valid TOML, or the position of a value cannot be found.
        UnknownNameError: an action or a key is unknown.
    """
    for edit in edits:
        raw = _apply_edit(raw, edit, file_name)
    return raw


def _apply_edit(raw: bytes, edit: ChainEdit, file_name: str) -> bytes:
    """Replace or add one value, and check that the parsed file has changed only there."""
    lines, values = parse_toml(raw, file_name)
    new_content = _new_content(values, edit, file_name)
    if new_content == values:
        return raw
    text = raw.decode("utf-8-sig")
    names = [str(each.get("name")) for each in values["action"]]
    headers = headers_of(lines, "action")
    if len(headers) != len(names):
        raise DataError(file_name, f"the action {edit.action} {_BY_HAND}")
    start, end = _table_range(text, lines, headers, names.index(edit.action), edit.message)
    span = _find_value(text, edit.key, start, end)
    literal = _literal(edit.value, "\r\n" if "\r\n" in text else "\n")
    if span is not None:
        text = text[: span[0]] + literal + text[span[1] :]
    else:
        after = _find_value(text, "do", start, end)
        if after is None:
            raise DataError(file_name, f"the action {edit.action} {_BY_HAND}")
        at = text.find("\n", after[1])
        line = f"{edit.key} = {literal}"
        text = f"{text}\n{line}\n" if at < 0 else f"{text[: at + 1]}{line}{_ending(text, at)}{text[at + 1 :]}"
    new_raw = text.encode()
    if parse_toml(new_raw, file_name)[1] != new_content:
        raise DataError(file_name, f"{edit.key} of the action {edit.action} {_BY_HAND}")
    return (b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b"") + new_raw


def _new_content(values: dict[str, Any], edit: ChainEdit, file_name: str) -> dict[str, Any]:
    """Return the parsed content of the file with the new value."""
    new_content = deepcopy(values)
    tables = new_content.get("action")
    actions = {str(each.get("name")): each for each in tables} if isinstance(tables, list) else {}
    if edit.action not in actions:
        raise UnknownNameError("action", edit.action, actions, file_name)
    table = actions[edit.action]
    if edit.message is not None:
        messages = table.get("message")
        if edit.key != "content" or not isinstance(messages, list) or not 0 <= edit.message < len(messages):
            raise DataError(
                file_name, f"the action {edit.action} has no message {edit.message} with the key {edit.key}"
            )
        table = messages[edit.message]
    elif edit.key not in EDITABLE:
        raise UnknownNameError("key", edit.key, EDITABLE, file_name)
    table[edit.key] = edit.value
    return new_content


def _table_range(text: str, lines: list[str], headers: Sequence[int], at: int, message: int | None) -> tuple[int, int]:
    """Return the start and the end of the table of an action, or of one of its messages, in the text."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    last = headers[at + 1] if at + 1 < len(headers) else len(lines)
    inner = [each for each in headers_of(lines, "action.message") if headers[at] < each < last]
    if message is not None and message < len(inner):
        following = inner[message + 1] if message + 1 < len(inner) else last
        return starts[inner[message] + 1], starts[following]
    return starts[headers[at] + 1], starts[inner[0] if inner else last]


def _find_value(text: str, key: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the start and the end of the value of a key; None if the table does not have the key."""
    head = re.compile(rf"""[ \t]*(?:{key}|"{key}"|'{key}')[ \t]*=[ \t]*""")
    at = start
    while at < end:
        match = head.match(text, at)
        first = _literal_end(text, match.end()) if match else None
        if match is not None:
            return match.end(), first or match.end()
        other = re.compile(r"""[ \t]*[\w."'-]+[ \t]*=[ \t]*""").match(text, at)
        at = _literal_end(text, other.end()) if other else at
        newline = text.find("\n", at)
        at = end if newline < 0 else newline + 1
    return None


def _literal_end(text: str, at: int) -> int:
    """Return the end of the TOML value that starts at this position."""
    for quotes in ('"""', "'''"):
        if text.startswith(quotes, at):
            pattern = r'(?:\\.|[^\\])*?"{3,5}' if quotes == '"""' else r".*?'{3,5}"
            match = re.compile(pattern, re.DOTALL).match(text, at + 3)
            return match.end() if match else len(text)
    for pattern in (r'"(?:\\.|[^"\\\n])*"', r"'[^'\n]*'", r"[^\s#,\]]+"):
        match = re.compile(pattern).match(text, at)
        if match:
            return match.end()
    return at


def _literal(value: str | int, ending: str) -> str:
    return str(value) if isinstance(value, int) else toml_string(value).replace("\n", ending)


def _ending(text: str, at: int) -> str:
    return "\r\n" if text[at - 1 : at] == "\r" else "\n"
