"""Parse replies of models strictly: the items of one JSON array, or one JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.judges.replies import UnreadableReplyError, read_object, strict_decoder

__all__ = ["Inspection", "ReadItems", "is_storable", "read_correction", "read_inspection", "read_items"]

VERDICTS = ("keep", "mend", "drop")

MAX_REASON_LENGTH = 300
"""How many characters of an inspector's reason are stored."""

_ARRAY = re.compile(r'\[\s*(?=\{\s*"|\{\s*\})')
"""Start of an array of objects; does not match brackets in prose."""

_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""NUL in JSON text; an escaped backslash before u0000 is not NUL."""

_EMPTY = re.compile(r"\[\s*\]")
_NEXT = re.compile(r'\}\s*,\s*(?=\{\s*")')
"""End of an item and start of the next."""


@dataclass(frozen=True, slots=True)
class ReadItems:
    """The items of a reply.

    Attributes:
        items: the objects, in order.
        broken: number of items that are not valid JSON objects.
    """

    items: tuple[Mapping[str, Any], ...]
    broken: int = 0


@dataclass(frozen=True, slots=True)
class Inspection:
    """The decision of an inspector.

    Attributes:
        verdict: ``keep``, ``mend`` or ``drop``.
        reason: the reason, "" for none.
        item: the corrected item; None if the reply has none.
    """

    verdict: str
    reason: str = ""
    item: Mapping[str, Any] | None = None


def read_items(text: str, key: str) -> ReadItems:
    """Parse the only array of objects in a reply; text around it and code fences are allowed.

    If the array as a whole is not valid JSON, its objects are parsed one by one, and invalid ones count as broken.
    Nothing is repaired. After an invalid item, objects without ``key`` count as parts of it.

    Args:
        text: the reply.
        key: a key of every item, such as ``question``.

    Raises:
        UnreadableReplyError: the reply has no array of objects, or two different ones.
    """
    opening = _ARRAY.search(text)
    if opening is None:
        if _EMPTY.search(text):
            return ReadItems(())
        raise UnreadableReplyError("the reply is empty" if not text.strip() else "the reply holds no JSON array")
    try:
        values, end = strict_decoder().raw_decode(text, opening.start())
    except (ValueError, RecursionError):
        return _one_by_one(text, opening.end(), key)
    if (other := _ARRAY.search(text, end)) is not None and not _is_copy(text, other.start(), values):
        raise UnreadableReplyError("the reply holds two different JSON arrays")
    items = tuple(value for value in values if isinstance(value, dict))
    return ReadItems(items, len(values) - len(items))


def read_inspection(text: str) -> Inspection:
    """Parse the decision in a reply: one JSON object with ``verdict``, ``reason``, and for corrections ``item``.

    Raises:
        UnreadableReplyError: the reply has no such object.
    """
    values = read_object(text)
    verdict, reason, item = values.get("verdict"), values.get("reason"), values.get("item")
    if verdict not in VERDICTS:
        raise UnreadableReplyError(f'the JSON object has no "verdict" that is one of {", ".join(VERDICTS)}')
    if item is not None and not isinstance(item, dict):
        raise UnreadableReplyError('"item" is no JSON object')
    return Inspection(verdict, _stored_reason(reason) if isinstance(reason, str) else "", item)


def read_correction(text: str) -> Mapping[str, Any]:
    """Parse the corrected item in a reply: ``item`` of its only JSON object.

    Raises:
        UnreadableReplyError: the reply has no such item.
    """
    item = read_object(text).get("item")
    if not isinstance(item, dict):
        raise UnreadableReplyError('the JSON object has no "item" that is an object')
    return item


def is_storable(values: object) -> bool:
    """Return whether a dataset can store all texts of JSON values: no NUL, no half of a surrogate pair."""
    json_text = json.dumps(values, ensure_ascii=False)
    try:
        json_text.encode()
    except UnicodeEncodeError:
        return False
    return _NUL.search(json_text) is None


def _stored_reason(reason: str) -> str:
    """Return a reason for storage: one line, truncated."""
    line = " ".join(reason.encode("utf-8", "replace").decode().split())
    return line if len(line) <= MAX_REASON_LENGTH else f"{line[:MAX_REASON_LENGTH]}..."


def _is_copy(text: str, start: int, values: object) -> bool:
    """Return whether the JSON at ``start`` equals ``values``."""
    try:
        return bool(strict_decoder().raw_decode(text, start)[0] == values)
    except (ValueError, RecursionError):
        return False


def _one_by_one(text: str, at: int, key: str) -> ReadItems:
    """Parse the objects of an invalid array one by one, and count the broken ones."""
    decoder, items, broken, is_after_broken = strict_decoder(), list[Mapping[str, Any]](), 0, False
    while True:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            broken, is_after_broken, end = broken + (not is_after_broken), True, at + 1
        else:
            if key in value or not is_after_broken:
                items.append(value)
                is_after_broken = False
            end -= 1  # the brace that closes the object
        next_item = _NEXT.search(text, end) if is_after_broken else _NEXT.match(text, end)
        if next_item is None:
            return ReadItems(tuple(items), broken + _breaks(text, end, is_after_broken))
        at = next_item.end()


def _breaks(text: str, end: int, is_after_broken: bool) -> int:
    """Return 1 if anything except the end of the array follows a valid item, else 0."""
    if is_after_broken:
        return 0
    rest = text[end + 1 :].lstrip()
    return int(not rest.startswith("]"))
