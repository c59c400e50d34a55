"""A judge's reply, read strictly: one JSON object with a label that was declared, or no verdict."""

from __future__ import annotations

import re
from collections.abc import Collection
from math import inf
from typing import Any, NoReturn

from pytest_rageval.errors import found

__all__ = ["UnreadableReplyError", "fold_label", "read_reply"]

_OPENING = re.compile('\\{\\s*["\u201c]')
"""How an object with a key begins; braces in prose, in TeX or in Python do not look like it."""

_FULL_WIDTH = str.maketrans("\u201c\u201d\uff1a\uff0c", '"":,')
"""Curly quotes and full-width colons and commas, as models write them in Chinese -> JSON's own."""


class UnreadableReplyError(ValueError):
    """A reply without the label that was asked for; the message says what is wrong with it."""


def fold_label(label: str) -> str:
    """Return the form in which labels are compared: trimmed, without case."""
    return label.strip().casefold()


def read_reply(text: str, choice: Collection[str] | range) -> tuple[str | int, str]:
    """Return the label and the reason that a reply gives; a reason that is missing is "".

    The reply holds exactly one JSON object; a fence, text around it and the same object once more do no harm. Its
    ``label`` is a string that is one of ``choice``, but for case and white space around it; or, where ``choice`` is a
    range, an integer of it, which ``"3"``, ``3.0`` and ``true`` are not. Keys that nobody asked for are not looked at.
    A reply that cannot be read as it stands is read with curly quotes and full-width colons and commas as JSON's own.

    Raises:
        UnreadableReplyError: anything else.
    """
    try:
        said = _object(text)
    except UnreadableReplyError:
        plain = text.translate(_FULL_WIDTH)
        if plain == text:
            raise
        said = _object(plain)
    if "label" not in said:
        raise UnreadableReplyError('the JSON object has no key "label"')
    reason = said.get("reason")
    return _label(said["label"], choice), reason if isinstance(reason, str) else ""


def _object(text: str) -> dict[str, Any]:
    """Return the one object of a reply."""
    if not text.strip():
        raise UnreadableReplyError("the reply is empty")
    from json import JSONDecoder

    decoder = JSONDecoder(object_pairs_hook=_distinct, parse_constant=_refused)
    said: dict[str, Any] | None = None
    first = ""
    opening = _OPENING.search(text)
    while opening is not None:
        try:
            other, end = decoder.raw_decode(text, opening.start())
            shown = repr(other)
        except UnreadableReplyError:
            raise
        except (ValueError, RecursionError):
            raise UnreadableReplyError("the reply holds an object that is not valid JSON") from None
        if said is not None and shown != first:
            raise UnreadableReplyError("the reply holds two different JSON objects")
        said, first = other, shown
        opening = _OPENING.search(text, end)
    if said is None:
        raise UnreadableReplyError("the reply holds no JSON object")
    return said


def _label(label: object, choice: Collection[str] | range) -> str | int:
    if isinstance(choice, range):
        if type(label) is int and label in choice:
            return label
        wanted = f"a whole number from {choice[0]} to {choice[-1]}"
    else:
        if isinstance(label, str):
            for one in choice:
                if fold_label(one) == fold_label(label):
                    return one
        wanted = f"one of {', '.join(map(repr, choice))}"
    shown = "a number too large to read" if label in (inf, -inf) else found(label)
    raise UnreadableReplyError(f"the label is {shown}, wanted {wanted}")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's pairs; one key twice is not told apart by JSON, and refused here."""
    said = dict(pairs)
    if len(said) < len(pairs):
        raise UnreadableReplyError("the JSON object has one key twice")
    return said


def _refused(constant: str) -> NoReturn:
    raise UnreadableReplyError(f"the reply holds {constant}, which JSON does not know")
