"""The relation ``number_format``: write a number of the question in another form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from pytest_rageval.generation.relations.invariants import OPENERS, lost_invariants, same_values
from pytest_rageval.generation.relations.relation import Edit, of_question
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.notation import CURRENCY
from pytest_rageval.text.quantities import DATE, UNKNOWN, quantities

__all__ = ["NUMBER_FORMAT", "number_forms"]

_NUMBER = re.compile(
    r"(?<![\d.,\w])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d]|[.,]\d)"
    r"(?P<word> (?:thousand|million|billion|trillion)\b)?",
    re.IGNORECASE | re.ASCII,
)
_CHINESE = re.compile(
    r"(?<![\d.,A-Za-z])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d]|[.,]\d)(?P<word>万亿|亿|千万|百万|万)?"
)
_CURRENCY = re.compile(rf"(?:{CURRENCY}) ?\Z", re.IGNORECASE)
_CAPITALISED = re.compile(r"[A-Z]\w* ?\Z", re.ASCII)
_COUNTED = re.compile(r" [a-z]{3,}")
_WINDOW = 12
"""How many characters before a number are searched for its currency, and after it for its unit."""

_MAX_LENGTH = 40
"""Maximum length of a number to change, and of a name before a number."""

_POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_HAN_POWERS = {"万": 4, "百万": 6, "千万": 7, "亿": 8, "万亿": 12}
_HAN_DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_MAX_DECIMALS = 3


def number_forms(question: str) -> Iterator[Edit]:
    """Yield edits that write one number of a question in another form of the same value.

    English: with and without commas, and with a scale word (1,577,000 as 1577000 and 1.577 million). Chinese: in
    digits, with 万 or 亿, and in Chinese numerals before such a word (5亿 as 500000000 and 五亿). Numbers in names and
    numbers that may be years do not change.
    """
    chinese = has_chinese(question)
    for match in (_CHINESE if chinese else _NUMBER).finditer(question):
        if len(match["number"]) > _MAX_LENGTH or _is_of_name(question, match.start()) or _may_be_year(question, match):
            continue
        word = (match["word"] or "").strip().lower()
        power = (_HAN_POWERS if chinese else _POWERS).get(word, 0)
        digits = match["number"].replace(",", "")
        value = Fraction(digits) * 10**power
        for form in _chinese(value, digits, word) if chinese else _english(value, digits, power):
            if form != match[0]:
                yield match.start(), match.end(), form


def _is_of_name(question: str, start: int) -> bool:
    """Return whether the number at ``start`` is part of a name, such as Boeing 7000."""
    before = question[max(0, start - _MAX_LENGTH) : start]
    word = _CAPITALISED.search(before)
    is_first = word is not None and len(word[0]) == start
    return word is not None and not (is_first and word[0].strip().casefold() in OPENERS)


def _may_be_year(question: str, match: re.Match[str]) -> bool:
    """Return whether a number may be a year: 1000 to 2099 without a unit; below 1900, a word after it is a unit."""
    number = match[0]
    if not (number.isdecimal() and 1000 <= int(number) <= 2099) or _CURRENCY.search(
        question[max(0, match.start() - _WINDOW) : match.start()]
    ):
        return False
    if any(one.unit not in ("", DATE, UNKNOWN) for one in quantities(question[match.start() : match.end() + _WINDOW])):
        return False
    return int(number) >= 1900 or _COUNTED.match(question, match.end()) is None


def _english(value: Fraction, number_text: str, power: int) -> Iterator[str]:
    """Yield the English forms of a number."""
    digits = number_text if not power else _decimal(value)
    if digits:
        whole, dot, decimals = digits.partition(".")
        yield digits
        if not whole.startswith("0"):
            yield f"{int(whole):,}{dot}{decimals}"
    for word, zeros in _POWERS.items():
        scaled = value / 10**zeros
        if 1 <= scaled < 1000 and zeros > _POWERS["thousand"] and (short := _decimal(scaled)):
            yield f"{short} {word}"


def _chinese(value: Fraction, number_text: str, word: str) -> Iterator[str]:
    """Yield the Chinese forms of a number."""
    digits = number_text if not word else _decimal(value)
    if digits:
        yield digits
    for scale in ("万", "亿"):
        scaled = value / 10 ** _HAN_POWERS[scale]
        if 1 <= scaled < 10**4 and (short := _decimal(scaled)):
            yield short + scale
            if scaled.denominator == 1:
                yield _numeral(int(scaled)) + scale
    if word not in ("", "万", "亿") and "." not in number_text and int(number_text) < 10:
        yield _HAN_DIGITS[int(number_text)] + word


def _decimal(value: Fraction) -> str:
    """Return a value in digits; "" if it needs more than three decimals."""
    scaled = value * 10**_MAX_DECIMALS
    if scaled.denominator != 1:
        return ""
    whole, decimals = divmod(int(scaled), 10**_MAX_DECIMALS)
    return f"{whole}.{decimals:0{_MAX_DECIMALS}d}".rstrip("0").rstrip(".")


def _numeral(number: int) -> str:
    """Return 1 to 9,999 in Chinese numerals."""
    text = str(number)
    parts = [
        _HAN_DIGITS[int(digit)] + (_PLACES[len(text) - at - 1] if digit != "0" else "") for at, digit in enumerate(text)
    ]
    joined = re.sub("零+", "零", "".join(parts)).rstrip("零")
    return joined[1:] if joined.startswith("一十") else joined


def _keeps(question: str, form: str) -> bool:
    return same_values(question, form) and set(lost_invariants(question, form)) <= {"digits"}


NUMBER_FORMAT = of_question("number_format", number_forms, _keeps)
