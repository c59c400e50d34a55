"""Find the values in a sentence that can be asked for: dates, times, numbers, money, names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from pytest_rageval.generation.abilities.edit import same_length
from pytest_rageval.generation.abilities.written_numbers import WrittenNumber, written_numbers
from pytest_rageval.generation.text_rules.listed_names import ListedNames
from pytest_rageval.text.dates import located_dates, located_times
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.quantities import DATE, Quantity
from pytest_rageval.text.words import tokens

__all__ = ["MONEY", "Kind", "Value", "values_in"]

Kind = Literal["date", "time", "money", "number", "name"]

NO_NAMES = ListedNames()
MONEY = frozenset({"CNY", "EUR", "GBP", "HKD", "JPY", "USD"})

_SCALE = re.compile(r" ?(?:thousand|million|billion|trillion)\b|[百千万亿]+")
_SYMBOL = re.compile(r" ?(?:%|‰|‱|°[CF]?|℃|℉|[€$£¥￥])")
_NO_ADJECTIVE = "and|or|of|in|at|on|to|for|by|from|with|as|that|which|who|the|an?|per|is|are|was|were"
_THINGS = re.compile(
    rf"(?:[ -](?!(?:{_NO_ADJECTIVE})\b)[a-z]+){{0,3}}?"
    r"[ -](?P<noun>[a-z]{2,}(?<!s)s|people|children|men|women|feet|sheep|staff)\b(?<!us)(?<!is)"
)
"""The words after a number, up to a plural: the noun that the number counts."""

_NO_THINGS = re.compile(
    "series|as|has|is|was|does|means|gives|takes|makes|says|goes|costs|runs|its|his|this|thus|yes|always|times"
)
_PERCENT_WORD = re.compile(r" (?:percent|per cent)\b")
_YEAR = re.compile(r"(?<![\w.,/:$€£¥-])(?:1[5-9]|20)\d\d(?![\w%]|[.,/:-]\d| [A-Z]+\d|×)")
_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|of|by|until|from|after|before|around|circa|born|died|founded|built)\s\Z", re.I
)
_ADJECTIVE_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_STOPS = str.maketrans("，：；", "、、、")
"""Replace full-width punctuation, which folding would turn into ASCII; an ASCII comma would join digits."""

_DAY_OF_MONTH = frozenset("日号")
_LONGEST_UNIT = 6
_LEAST_COUNT = 2
_PARTS = re.compile(r"(?:\d分|\[|No\. ?)\Z")
_IN_NAME = re.compile(r"(?:[A-Za-z]{2,} ?|\d、)\Z")
"""Text before a number in Chinese: after Latin letters it belongs to a name, after a digit and ``、`` to a number."""
_JOINED = frozenset("-–/×")
"""Signs between two numbers: in a score, a range or a resolution."""

_MODEL = re.compile(r"(?<=\s)[A-Z][\w'-]* \Z")
"""A capitalized word before a number: "the Ryzen 7000 processors". The first word of a sentence does not count."""

_LONGEST_NAME = 24
_HALF_OF_DAY = re.compile(r"[ap]\.?\s?m\b", re.IGNORECASE)
_BEFORE_TIME = re.compile(
    r"\b(?:at|from|until|till|to|by|around|about|approximately|before|after|between|and|or|since) \Z|[-–—] ?\Z",
    re.IGNORECASE,
)
_OF_DURATION = re.compile(r" (?:ahead|after|behind|faster|into|left|remaining|slower|to go)\b")

_SHORT_UNITS = frozenset("克斤度米升磅")
_RATE = re.compile(r"(?:/|每| per )\w{1,6}")
_COMPOSITE = re.compile(r"\d|代")
_SPEED = re.compile(r"时速|限速|速度")
_MEASURES = frozenset("个只条张艘班座所场间层排步门道颗棵匹头枚枝支部本册箱袋瓶杯碗份组队批类套幅块片节句字")


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its position in the text.

    Attributes:
        start: where it starts, including a currency sign.
        end: where it ends, including a scale word ("million") and a sign ("%"), without the word of a unit.
        text: the value as written.
        kind: date, time, money, number or name.
        group: equal for comparable values: the kind, the unit or the counted noun, and how the unit is written.
        number: the number in the written unit and scale; None for dates, times and names.
        unit: the word or sign of its unit or counted noun, as written; "" for none.
        scale: the scale word with the space before it; "" for none.
        order: sort key within its group: a number, or year, month and day, or minutes.
    """

    start: int
    end: int
    text: str
    kind: Kind
    group: tuple[str, ...]
    number: Fraction | None = None
    unit: str = ""
    scale: str = ""
    order: tuple[Fraction, ...] = field(default=(), compare=False)


def values_in(text: str, names: ListedNames = NO_NAMES) -> list[Value]:
    """Return the values of a sentence in order, without digits in names, ordinals, ranges and unclear numbers."""
    values: list[Value] = []
    for value in _candidates(text, names):
        if all(value.end <= other.start or other.end <= value.start for other in values):
            values.append(value)
    return sorted(values, key=lambda value: value.start)


def _candidates(text: str, names: ListedNames) -> Iterator[Value]:
    text = text.translate(_STOPS)
    narrow = same_length(text)
    yield from _dates(text, narrow)
    for start, end, minutes in located_times(narrow):
        if not has_chinese(text) and not _is_time_of_day(narrow, start, end):
            continue
        yield Value(start, end, text[start:end], "time", ("time",), order=(Fraction(minutes),))
    for written in written_numbers(text):
        value = _number(text, narrow, written)
        if value is not None:
            yield value
    for start, end in names.spans(text):
        yield Value(start, end, text[start:end], "name", ("name",))


def _dates(text: str, narrow: str) -> Iterator[Value]:
    for start, end, date in located_dates(narrow):
        if date is not None:
            parts = "".join(letter for letter, part in zip("ymd", date, strict=True) if part)
            yield Value(start, end, text[start:end], "date", ("date", parts), order=tuple(map(Fraction, date)))
    for match in _YEAR.finditer(narrow):
        if _BEFORE_YEAR.search(narrow, max(0, match.start() - 10), match.start()):
            order = (Fraction(match[0]), Fraction(0), Fraction(0))
            yield Value(*match.span(), text[slice(*match.span())], "date", ("date", "y"), order=order)


def _is_time_of_day(narrow: str, start: int, end: int) -> bool:
    """Return whether an English sentence means a time of day, such as "at 0:16", not a duration ("0:16 behind")."""
    if _HALF_OF_DAY.search(narrow, start, end):
        return True
    return (
        _BEFORE_TIME.search(narrow, max(0, start - 16), start) is not None and _OF_DURATION.match(narrow, end) is None
    )


def _number(text: str, narrow: str, written: WrittenNumber) -> Value | None:
    """Return a number that has a unit or a noun, or a bare year; None for other numbers."""
    quantity, start, end = written.quantity, written.start, written.core + len(written.digits)
    scale = _SCALE.match(narrow, end)
    end = scale.end() if scale else end
    prefix = narrow[start : written.core].strip()
    if quantity.unit == DATE or quantity.low != quantity.high or _is_joined(narrow, start, end, prefix):
        return None
    if not quantity.unit and not scale and _ADJECTIVE_YEAR.fullmatch(written.digits):
        order = (Fraction(written.plain), Fraction(0), Fraction(0))
        return Value(start, end, text[start:end], "date", ("date", "y"), order=order)
    symbol = _SYMBOL.match(narrow, end) or _PERCENT_WORD.match(narrow, end)
    end = symbol.end() if symbol else end
    unit = (symbol[0].strip() if symbol else "") or _unit_word(narrow, end, written, quantity)
    after = end if symbol else end + len(unit)
    if not (unit or prefix) or _COMPOSITE.match(narrow, after):
        return None
    if not symbol and not prefix and _MODEL.search(narrow, max(0, start - _LONGEST_NAME), start):
        return None
    kind: Kind = "money" if quantity.unit in MONEY else "number"
    measured = unit if unit[:1] in _SHORT_UNITS and len(unit) > 1 else quantity.unit or quantity.noun
    words = (
        _counted(narrow, after, unit),
        prefix.casefold(),
        scale[0].strip() if scale else "",
        _rate(narrow, start, after),
    )
    number = Fraction(written.plain)
    return Value(
        start=start,
        end=end,
        text=text[start:end],
        kind=kind,
        group=(kind, measured, *words),
        number=number,
        unit=unit or prefix,
        scale=scale[0] if scale else "",
        order=(number,),
    )


def _is_joined(narrow: str, start: int, end: int, prefix: str) -> bool:
    """Return whether a number has a sign, or belongs to a name, a score, a range, a resolution or a reference."""
    if prefix.startswith(("-", "+")) or narrow[start - 1 : start] in _JOINED or narrow[end : end + 1] == "×":
        return True
    if _PARTS.search(narrow, max(0, start - 12), start) is not None:
        return True
    return not narrow.isascii() and _IN_NAME.search(narrow, max(0, start - 12), start) is not None


def _counted(narrow: str, after: int, unit: str) -> str:
    """Return the unit; after a Chinese measure word, add the next word, which names what is counted."""
    if len(unit) > 1 or unit.isascii():
        return unit.casefold()
    following = tokens(narrow[after : after + _LONGEST_UNIT])
    return unit + (following[0] if following and following[0].isalpha() else "")


def _rate(narrow: str, start: int, after: int) -> str:
    """Return the text that makes a number a rate: "/h" after it, or a word for speed before it; "" for none."""
    rate = _RATE.match(narrow, after) or _SPEED.search(narrow, max(0, start - 6), start)
    return rate[0] if rate else ""


def _unit_word(narrow: str, end: int, written: WrittenNumber, quantity: Quantity) -> str:
    """Return the unit after a number, or the noun that the number counts; "" if there is neither."""
    if written.end > end:
        unit = narrow[end : written.end].strip(" -")
        return "" if unit in _DAY_OF_MONTH else _whole_word(narrow, written.end - len(unit), unit)
    if narrow[end : end + 1] in _MEASURES and not quantity.unit:
        return narrow[end : end + 1]
    things = _THINGS.match(narrow, end)
    if things is None or _NO_THINGS.fullmatch(things["noun"]) or quantity.low < _LEAST_COUNT:
        return ""
    return " ".join(things[0].replace("-", " ").split())


def _whole_word(narrow: str, start: int, unit: str) -> str:
    """Return the whole word that starts with a Chinese unit of one character, such as a currency; else the unit."""
    if unit not in _SHORT_UNITS:
        return unit
    following = tokens(narrow[start : start + _LONGEST_UNIT])
    return following[0] if following and following[0].startswith(unit) else unit
