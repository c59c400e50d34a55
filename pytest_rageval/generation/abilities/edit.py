"""Edit spans of a text, or report why it cannot be edited."""

from __future__ import annotations

import re
import unicodedata
from calendar import month_abbr, month_name
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pytest_rageval.text.notation import split_wide_commas

__all__ = ["Drop", "Edit", "apply_edits", "edit_all", "in_name", "is_wordy", "same_length"]

_MAX_OTHER_WORDS = 3

_LAST_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*\Z")
_BEFORE_NUMBERS = frozenset({
    "about", "after", "almost", "approximately", "around", "at", "before", "between", "by", "circa", "during", "early",
    "eur", "from", "gbp", "hkd", "in", "jpy", "late", "nearly", "on", "only", "over", "roughly", "since", "some", "the",
    "total", "under", "until", "us", "usd", "year", *map(str.casefold, month_abbr), *map(str.casefold, month_name),
})  # fmt: skip
_HAN_BEFORE_NUMBERS = frozenset("约近超逾达共有为是至到从在于了计第每币元年月日时午晨上负午")


@dataclass(frozen=True, slots=True)
class Drop:
    """Why a passage has no twin, or a record no false answer.

    Attributes:
        reason: one word of the table in the docs, such as ``no_rule_for_answer``.
        detail: the text or value that is the reason, in a few words.
    """

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """A span of a text, in characters, and its new text."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with its edits applied; edits must not overlap."""
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def edit_all(texts: Iterable[str], edits: Callable[[str], tuple[Edit, ...] | Drop]) -> tuple[str, ...]:
    """Apply ``edits(text)`` to each text and return the changed texts, without duplicates and unchanged ones."""
    pairs = [(text, edits(text)) for text in texts]
    return tuple(dict.fromkeys(apply_edits(text, each) for text, each in pairs if each and not isinstance(each, Drop)))


def is_wordy(text: str, spans: Iterable[tuple[int, int]]) -> bool:
    """Return whether a text has more than three words outside ``spans``."""
    outside = apply_edits(text, [Edit(start, end, " ") for start, end in spans])
    words = len(outside.split()) if outside.isascii() else len("".join(outside.split())) / 2
    return words > _MAX_OTHER_WORDS


def in_name(text: str, start: int) -> bool:
    """Return whether the number at ``start`` is a part of a name, such as "Windows 2000" or 骁龙835."""
    before = text[:start].rstrip(" $€£¥￥")
    word = _LAST_WORD.search(before)
    if word is not None:
        return word[0][0].isupper() and word[0].casefold() not in _BEFORE_NUMBERS
    return before[-1:].isalpha() and before[-1] not in _HAN_BEFORE_NUMBERS


def same_length(text: str) -> str:
    """Return a text in NFKC with the same length, so offsets stay valid.

    A character that NFKC expands to several stays. A wide comma becomes ``;``: a plain comma would join two numbers.
    """
    if text.isascii():
        return text
    return "".join(map(_narrow, split_wide_commas(text))).replace("\u2212", "-")


def _narrow(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 else character
