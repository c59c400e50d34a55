"""Parse quantities in English and Chinese: numbers with units, ranges, dates, times of day."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

from pytest_rageval.text.dates import dates, times
from pytest_rageval.text.language import CJK
from pytest_rageval.text.notation import CURRENCY, join_wide_thousands, split_wide_commas
from pytest_rageval.text.numerals import in_digits
from pytest_rageval.text.stems import STOP_WORDS, stem
from pytest_rageval.text.unicode import nfkc
from pytest_rageval.text.units import UNITS

__all__ = [
    "DATE",
    "RATIOS",
    "TIME",
    "UNKNOWN",
    "Quantity",
    "in_names",
    "quantities",
    "whole_quantity",
    "without_numbers",
]

DATE, TIME, UNKNOWN = "date", "time", "?"
RATIOS = frozenset({"%", "pp"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, range, date or time of day in a text.

    Attributes:
        low: the number in the base unit; the lower end of a range.
        high: the same as ``low``, or the upper end of a range.
        unit: the base unit ("g" for all masses); "" for a bare number, `DATE`, `TIME` (in minutes after midnight), or
            `UNKNOWN` for an ambiguous number.
        step: the value of one unit in the last digit; 0 for dates and times.
        digits: number of digits without leading zeros.
        date: year, month and day of a date; 0 for a missing part.
        factor: the factor from the written unit to the base unit: 12 for years in months.
        noun: the stem of the word after a number without a unit, "car" for 3 cars; in Chinese, the next character.
        scale: the factor of a scale word after the number: 10^6 for million.
    """

    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    unit: str = ""
    step: Fraction = Fraction(0)
    digits: int = 0
    date: tuple[int, int, int] = (0, 0, 0)
    factor: Fraction = field(default=Fraction(1), compare=False)
    scale: Fraction = field(default=Fraction(1), compare=False)
    noun: str = field(default="", compare=False)

    @property
    def year(self) -> int:
        """The year of a date without month and day, or of a bare number that may be a year (2015); else 0."""
        if self.unit == DATE:
            return self.date[0] if not any(self.date[1:]) else 0
        plain = self.unit == "" and self.low == self.high and self.low.denominator == 1 and self.step == 1
        return int(self.low) if plain and 1900 <= self.low <= 2100 else 0


_SCALES = {
    "百": 2, "千": 3, "万": 4, "亿": 8, "k": 3, "thousand": 3, "m": 6, "mm": 6, "mn": 6, "mln": 6, "million": 6,
    "b": 9, "bn": 9, "bln": 9, "billion": 9, "tn": 12, "trn": 12, "trillion": 12,
}  # fmt: skip
_SPELLINGS = [(re.compile(spelling, re.I), unit, Fraction(factor)) for spelling, (unit, factor) in UNITS.items()]

_CORE = r"\d{1,3}(?:,\d{3}(?!\d))+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_CHINESE_SCALE = "(?:百|千(?![克米瓦卡])|万|亿){1,4}"
_WORD_SCALE = " ?(?:thousand|million|mln|mn|billion|bln|bn|trillion|trn|tn)"
_SCALE = f"(?:{_CHINESE_SCALE}|(?:{_WORD_SCALE}|[kb])(?![a-z]))"
_COMPOUND = re.compile("[/23]|square|nautical")
"""Marks of compound units (km/h, km2). They begin like a simple unit and must come first in `_UNIT`."""

_UNIT = "|".join(
    f"(?:{spelling})" + ("(?![a-z])" if re.search("[a-z]", spelling) else "")
    for spelling in sorted(UNITS, key=lambda spelling: (_COMPOUND.search(spelling) is None, -len(spelling)))
)
_NUMBER = re.compile(
    r"(?=[-+(负零人$€£¥￥.\d]|minus |negative |rmb|cny|usd|us\$|hk|eur|jpy|gbp)"  # possible first characters, for speed
    rf"(?P<open>\()?(?P<sign>[-+]|负|零下|minus |negative )?(?:(?P<cur>{CURRENCY}) ?)?(?P<inner>[-+(])?"
    rf"(?<![\d.])(?<!\d[/\u2044])(?P<num>{_CORE})(?P<scale>{_SCALE})?(?P<more>\d+(?:\.\d+)?{_SCALE})?"
    rf"(?:[ -]?(?P<unit>{_UNIT})(?!(?<=[$€£¥￥])\d))?(?P<close>\)(?P<late>{_SCALE})?)?",
    re.IGNORECASE,
)
_TO, _AND = re.compile(" ?(?:-|~|to|至|到) ?", re.IGNORECASE), re.compile(" ?(?:and|与|和) ?", re.IGNORECASE)
_FROM, _BETWEEN = (
    re.compile(r"(?:from|从|由|自) ?\Z", re.IGNORECASE),
    re.compile(r"(?:between|介于|在) ?\Z", re.IGNORECASE),
)
_ORDINAL = re.compile(r"(?:第|#|№|\bNo\. ?) ?\Z", re.IGNORECASE)
_SENTENCE_WORD = "About|Approximately|Are|Around|Is|Nearly|Only|Over|Roughly|The|Total|Under|Was|Were"
_NAME = re.compile(rf"(?<![a-zA-Z])(?!(?:{_SENTENCE_WORD}) )[A-Z][\w&]* \Z")
_VERSION = re.compile(r"\b(?:chapter|figure|python|release|section|table|version|v\.?) ?\Z|版本?号? ?\Z", re.IGNORECASE)
_ODD = re.compile(r"[,/\u2044^×*]\d|e[+-]?\d| \d{3}(?!\d)", re.IGNORECASE)
"""Text after an ambiguous number: 1,00,000, 3/4, 10^6, 1e5, 1 000."""

_CITED, _LISTED = re.compile(r"\[\d{1,3}\]"), re.compile(r"^ ?\d{1,2}[.)、](?!\d)", re.MULTILINE)
_DASHES = str.maketrans(dict.fromkeys("−–—‒―‑‐", "-") | dict.fromkeys("～∼〜", "~"))
_LONGEST = 40
_NOUN = re.compile(f"[ -]?(?:(?P<word>[^\\W\\d_{CJK}]{{2,}})|(?P<han>[{CJK}]))")
_NO_NOUN = frozenset("个的了左以多余是为和与或及至到等上下来在也就都而但并则后前年月日时有被将由从")
"""Han characters after a number that do not name the counted thing."""

_NO_QUANTITY = Quantity(unit=UNKNOWN)
_NAMED = "named"


def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities that ``text`` states, in no particular order.

    Digits in a name (COVID-19, 5G, Boeing 737, version 3.10) or an ordinal (第3, No. 3) are not quantities. Neither
    are citations ([3]) and list numbers, if the text has other digits. An ambiguous number (05/06/2023, 3/4, 1 000)
    has the unit `UNKNOWN`. Time is linear in the length of the text.
    """
    return tuple(one for one in _parse(text) if one.unit != _NAMED)


def whole_quantity(text: str) -> Quantity | None:
    """Return the quantity if ``text`` is nothing but one quantity; None otherwise, and for dates and times."""
    if _NUMBER.fullmatch(_plain(text).strip()) is None:
        return None
    parsed = quantities(text)
    return parsed[0] if len(parsed) == 1 and parsed[0].unit not in (DATE, TIME, UNKNOWN) else None


def without_numbers(text: str) -> str:
    """Return ``text`` in NFKC, without its numbers and their units."""
    return _NUMBER.sub(" ", _plain(text))


def in_names(text: str) -> tuple[Quantity, ...]:
    """Return the digits in names and ordinals, which `quantities` excludes, as bare numbers."""
    return tuple(replace(one, unit="") for one in _parse(text) if one.unit == _NAMED)


def _parse(text: str) -> list[Quantity]:
    result: list[Quantity] = []
    plain = _without_references(_plain(text))
    plain = dates(plain, lambda date: result.append(Quantity(unit=DATE, date=date) if date else _NO_QUANTITY))
    plain = times(plain, lambda minutes: result.append(Quantity(Fraction(minutes), Fraction(minutes), TIME)))
    return [*result, *_numbers(plain)]


def _plain(text: str) -> str:
    return in_digits(nfkc(join_wide_thousands(split_wide_commas(text))).translate(_DASHES))


def _without_references(text: str) -> str:
    """Return the text without citations and list numbers; unchanged if no other digits remain ("70." is a number)."""
    bare = _CITED.sub("\n", text)
    bare = _LISTED.sub("\n", bare) if len(_LISTED.findall(bare)) > 1 else bare
    return bare if re.search(r"\d", bare) else text


@dataclass(frozen=True, slots=True)
class _LocatedNumber:
    """A number with its span in the text, and the factor of its scale and unit."""

    quantity: Quantity
    start: int
    end: int
    scaled: Fraction


def _numbers(text: str) -> list[Quantity]:
    """Return the numbers of a text; digits in a name or an ordinal have the unit "named"."""
    result: list[Quantity] = []
    last: _LocatedNumber | None = None
    for match in _NUMBER.finditer(text):
        number = _located(match, text, last)
        interval = _range(last, number, text) if last and number else None
        if interval:
            result[-1], last = interval, None
            continue
        result.append(number.quantity if number else _digits_in_name(match["num"]))
        last = number
    return result


def _located(match: re.Match[str], text: str, last: _LocatedNumber | None) -> _LocatedNumber | None:
    """Return the number of a match; None for digits in a name or an ordinal."""
    start, end = match.start("cur") if match["cur"] else match.start("num"), match.end()
    after_last = last is not None and last.end == match.start()
    before = text[max(0, match.start() - 24) : match.start()]
    if not after_last and re.search("[a-zA-Z_]\\Z", before) and not match["cur"]:
        return None
    if _is_name(match, text, before):
        return None
    if len(match["num"]) > _LONGEST or len(match["more"] or "") > _LONGEST or _ODD.match(text, match.end("num")):
        return _LocatedNumber(_NO_QUANTITY, start, end, Fraction(1))
    unit, factor = _unit(match)
    scale = _power(match["scale"] or match["late"]) * factor
    if unit in ("m or million", "mm or million") and match["cur"]:
        unit, factor = _unit_of(match["cur"])
        scale *= 10**6
    number = match["num"].replace(",", "")
    value, step = Fraction(number) * scale, scale / 10 ** len(number.partition(".")[2])
    if match["more"]:
        more = re.match(r"[\d.]+", match["more"])[0]  # type: ignore[index] # it begins with a digit
        power = _power(match["more"][len(more) :]) * factor
        value, step = value + Fraction(more) * power, power / 10 ** len(more.partition(".")[2])
    digits = len(number.replace(".", "").lstrip("0"))
    quantity = Quantity(value, value, unit, step, digits, factor=factor, scale=scale / factor)
    if unit == "":
        quantity = replace(quantity, noun=_noun(text, end))
    if _is_negative(match, after_last, quantity):
        quantity = replace(quantity, low=-value, high=-value)
    return _LocatedNumber(quantity, start, end, scale)


def _noun(text: str, end: int) -> str:
    match = _NOUN.match(text, end)
    if match is None:
        return ""
    if match["han"]:
        return "" if match["han"] in _NO_NOUN else match["han"]
    word = match["word"].lower()
    return "" if word in STOP_WORDS else stem(word)


def _digits_in_name(digits: str) -> Quantity:
    if len(digits) > _LONGEST:
        return Quantity(unit=_NAMED)
    number = digits.replace(",", "")
    value, step = Fraction(number), Fraction(1, 10 ** len(number.partition(".")[2]))
    return Quantity(value, value, _NAMED, step, len(number.replace(".", "").lstrip("0")))


def _is_name(match: re.Match[str], text: str, before: str) -> bool:
    following = text[match.end() : match.end() + 2]
    if following[:1] == "." and following[1:].isdecimal():
        return True
    if re.match("[a-zA-Z_]", following) and not match["unit"] and not _ODD.match(text, match.end("num")):
        return True
    if match["unit"] in ("G", "T", "X"):
        return True
    if _ORDINAL.search(before):
        return True
    if match["scale"] or match["unit"] or match["cur"]:
        return False
    if "." in match["num"]:
        return _VERSION.search(before) is not None
    return len(match["num"]) < 4 and _NAME.search(before) is not None


def _is_negative(match: re.Match[str], after_last: bool, quantity: Quantity) -> bool:
    if (match["open"] or match["inner"] == "(") and match["close"]:
        return not quantity.year
    sign = match["sign"] or match["inner"] or "+"
    return sign not in "+(" and not (after_last and sign == "-")


def _range(first: _LocatedNumber, second: _LocatedNumber, text: str) -> Quantity | None:
    """Return the range that two numbers form (5-10%, 5%至10%, between 5 and 10); None if they do not form one."""
    low, high = first.quantity, second.quantity
    between, before = text[first.end : second.start], text[max(0, first.start - 10) : first.start]
    if UNKNOWN in (low.unit, high.unit) or len(between) > 6:
        return None
    if not (
        (_BETWEEN.search(before) and _AND.fullmatch(between))
        or (_TO.fullmatch(between) and (_BETWEEN.search(before) or not _FROM.search(before)))
    ):
        return None
    factor = second.scaled if first.scaled == 1 else Fraction(1)
    if low.unit not in ("", high.unit) and high.unit:
        return None
    least, most = low.low * factor, abs(high.high) if between.strip() == "-" else high.high
    if least >= most:
        return None
    measured = high if high.unit else low
    step, digits = max(low.step * factor, high.step), max(low.digits, high.digits)
    return Quantity(least, most, measured.unit, step, digits, factor=measured.factor, noun=high.noun or low.noun)


def _unit(match: re.Match[str]) -> tuple[str, Fraction]:
    written = match["unit"] or match["cur"]
    unit, factor = _unit_of(written) if written else ("", Fraction(1))
    return (unit, factor) if match["unit"] or not written else (unit, Fraction(1))


@lru_cache(maxsize=256)
def _unit_of(written: str) -> tuple[str, Fraction]:
    return next((unit, factor) for spelling, unit, factor in _SPELLINGS if spelling.fullmatch(written))


def _power(scale: str | None) -> Fraction:
    """Return the factor of a scale word: 10^8 for 亿, 10^7 for 千万, 10^9 for bn."""
    if not scale:
        return Fraction(1)
    word = scale.strip().lower()
    return Fraction(10 ** (_SCALES[word] if word in _SCALES else sum(_SCALES[character] for character in word)))
