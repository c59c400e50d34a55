"""Parse judges' replies strictly: one JSON object with a declared label, or no verdict."""

from __future__ import annotations

import re
from collections.abc import Collection
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_rageval.errors import short_repr

if TYPE_CHECKING:
    from json import JSONDecoder

__all__ = ["UnreadableReplyError", "fold_label", "read_object", "read_reply", "strict_decoder"]

_OPENING = re.compile('\\{\\s*["\u201c]')
"""Start of a JSON object with a key; braces in prose, TeX or Python do not match."""

_FULL_WIDTH = str.maketrans("\u201c\u201d\uff1a\uff0c", '"":,')
"""Curly quotes, full-width colons and commas (written by models in Chinese) -> JSON's characters."""


class UnreadableReplyError(ValueError):
    """Raised when a reply has no valid label; the message says why."""


def fold_label(label: str) -> str:
    """Return a label trimmed and case folded, for comparison."""
    return label.strip().casefold()


def read_reply(text: str, choice: Collection[str] | range) -> tuple[str | int, str]:
    """Return the label and the reason of a reply; "" for a missing reason.

    The reply must contain exactly one JSON object; a code fence, text around it and an identical copy are allowed. The
    ``label`` must be a string in ``choice``, ignoring case and surrounding white space. If ``choice`` is a range, the
    label must be an integer in it; ``"3"``, ``3.0`` and ``true`` are invalid. Other keys are ignored. If the reply
    cannot be parsed, it is parsed again with curly quotes, full-width colons and full-width commas replaced.

    Raises:
        UnreadableReplyError: the reply has no such object or no such label.
    """
    try:
        values = read_object(text)
    except UnreadableReplyError:
        plain = text.translate(_FULL_WIDTH)
        if plain == text:
            raise
        values = read_object(plain)
    if "label" not in values:
        raise UnreadableReplyError('the JSON object has no key "label"')
    reason = values.get("reason")
    return _label(values["label"], choice), reason if isinstance(reason, str) else ""


def read_object(text: str) -> dict[str, Any]:
    """Return the only JSON object of a reply; a code fence, text around it and an identical copy are allowed.

    Raises:
        UnreadableReplyError: the reply contains no object, an invalid object, or two different objects.
    """
    if not text.strip():
        raise UnreadableReplyError("the reply is empty")
    decoder = strict_decoder()
    values: dict[str, Any] | None = None
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
        if values is not None and shown != first:
            raise UnreadableReplyError("the reply holds two different JSON objects")
        values, first = other, shown
        opening = _OPENING.search(text, end)
    if values is None:
        raise UnreadableReplyError("the reply holds no JSON object")
    return values


def strict_decoder() -> JSONDecoder:
    """Return a JSON decoder that raises `UnreadableReplyError` for a duplicate key, NaN and infinity."""
    from json import JSONDecoder

    return JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_raise_constant)


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
    shown = "a number too large to read" if label in (inf, -inf) else short_repr(label)
    raise UnreadableReplyError(f"the label is {shown}, wanted {wanted}")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object's pairs as a dict; raise for a duplicate key, which Python's JSON would accept."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise UnreadableReplyError("the JSON object has one key twice")
    return values


def _raise_constant(constant: str) -> NoReturn:
    raise UnreadableReplyError(f"the reply holds {constant}, which JSON does not know")
