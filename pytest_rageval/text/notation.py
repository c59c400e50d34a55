"""Normalise the notation of numbers: thousands separators and minus signs."""

from __future__ import annotations

import re

from pytest_rageval.text.language import CJK
from pytest_rageval.text.unicode import nfkc

__all__ = [
    "CURRENCY",
    "LONGEST_SIGN",
    "has_negative",
    "join_thousands",
    "join_wide_thousands",
    "mark_negatives",
    "negative_span",
    "split_wide_commas",
]

CURRENCY = r"人民币|rmb|cny|usd|us\$|hk\$|hkd|eur|jpy|gbp|[$€£¥￥]"
"""Currencies before a number, as a regular expression."""

# Each pattern starts with a literal, which `re` finds fast, and then looks behind.
_COMMA = re.compile(r",(?<=\d,)(?<!\d{4},)(?<!\.\d,)(?<!\.\d\d,)(?<!\.\d{3},)(?=\d{3}(?!\d))")
_WIDE = re.compile("[\u00a0\u2007\u2009\u202f](?<=\\d.)(?<!\\d{4}.)(?=\\d{3}(?!\\d))")

_WIDE_COMMA = re.compile(r"(?<![\d，])\d{1,3}(?:，\d{3})+(?!\d|，\d)|，")
"""A whole number with wide commas between thousands, or any other wide comma."""

LONGEST_SIGN = 20
"""Length of the longest minus with a currency, such as "negative usd 5"."""

_LAST_OF_SIGN = frozenset("-–负下 $€£¥币")
_MINUS = re.compile(
    rf"(?:(?P<dash>[-–](?:(?:{CURRENCY}) ?)?)|(?P<late>(?<!\d)(?:{CURRENCY}) ?[-–])"
    rf"|(?P<word>负|零下|\b(?:minus|negative) )(?:(?:{CURRENCY}) ?)?)\Z"
)
_JOINED = frozenset("-–)]}%‰°℃/+±_$€£¥")
"""Characters that turn the hyphen after them into a joiner instead of a minus."""

_HAN, _MEASURE_BEFORE = f"[{CJK}]", rf"\d[{CJK}]{{1,4}}\Z"  # `re` compiles them only for a minus after a character
_MEASURE = re.compile(r" ?(?:[%‰°℃万亿元度倍]|个?百分点|美元|港元|bp|pp)")
_OPENING = re.compile(rf"(?:{CURRENCY}) ?\Z")
_CLOSING = re.compile(r"\) ?[%‰]")


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MAY_NEGATE = re.compile("[-–(负]|零下|minus |negative ")
_NO_CURRENCY = re.compile("[-–( 负]|零下|minus|negative")


def join_thousands(text: str) -> str:
    """Return ``text`` without the commas between thousands: 12,345.6 as 12345.6; a list such as 2021,2022 stays."""
    return _COMMA.sub("", text) if "," in text else text


def join_wide_thousands(text: str) -> str:
    """Return ``text`` without no-break and thin spaces between thousands; NFKC would make them plain spaces."""
    return text if text.isascii() else _WIDE.sub("", text)


def split_wide_commas(text: str) -> str:
    """Return ``text`` with ``;`` for each wide comma, except those between thousands (１，５７７); the length stays.

    NFKC would make it a plain comma, which joins numbers: 1998，2003年 would be one.
    """
    return _WIDE_COMMA.sub(lambda match: ";" if match[0] == "，" else match[0], text) if "，" in text else text


def has_negative(text: str) -> bool:
    """Return whether a text has a negative number; see `negative_span`."""
    folded = join_thousands(nfkc(text).lower().replace("\u2212", "-"))
    return mark_negatives(folded, "") != folded


def mark_negatives(text: str, mark: str) -> str:
    """Return a folded text with ``mark`` instead of the minus before each negative number: -¥5 as ¥, mark and 5."""
    if _MAY_NEGATE.search(text) is None:
        return text
    parts, at = [], 0
    for match in _NUMBER.finditer(text):
        start, end = negative_span(text, *match.span())
        if start < match.start():
            parts += [text[at:start], _NO_CURRENCY.sub("", text[start : match.start()]), mark, match[0]]
            at = end
    return "".join([*parts, text[at:]])


def negative_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the start and end of a number of a folded text, its minus included.

    A minus is a hyphen or an en dash directly before the number or its currency (-5, -$5, $-5), or one of the words
    负, 零下, minus and negative. A hyphen after a letter, a digit, a bracket or a percent sign is a joiner (covid-19,
    60-70, 5%-10%). After a Han character it is a minus only if a unit follows and no number precedes: 同比-5% is
    negative, 歼-20 and 3月-5月 are not. Parentheses are a minus only in accounting notation: $(5) and (5)%.
    """
    last = text[start - 1 : start]
    before = text[max(0, start - LONGEST_SIGN) : start]
    if last == "(":
        accounting = text[end : end + 1] == ")" and (_OPENING.search(before[:-1]) or _CLOSING.match(text, end))
        return (start - 1, end + 1) if accounting else (start, end)
    match = _MINUS.search(before) if last and last in _LAST_OF_SIGN else None
    if match is None or not _negates(match, before, text, end):
        return start, end
    return start - len(before) + match.start(), end


def _negates(match: re.Match[str], before: str, text: str, end: int) -> bool:
    """Return whether a possible minus before a number really is a minus."""
    if match["late"]:
        return True
    ahead = before[: match.start()]
    last, word = ahead[-1:], ahead.rstrip()[-1:]
    if match["word"]:
        return not word.isdecimal() and word not in _JOINED
    if not last.isascii() and re.match(_HAN, last):
        return _MEASURE.match(text, end) is not None and re.search(_MEASURE_BEFORE, ahead) is None
    return not last.isalnum() and last not in _JOINED and word not in ("%", "‰")
