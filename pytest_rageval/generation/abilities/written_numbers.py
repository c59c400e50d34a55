"""Find numbers in a text with spans and units, and write other numbers in their form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from pytest_rageval.generation.abilities.edit import Edit, same_length
from pytest_rageval.text.dates import located_dates
from pytest_rageval.text.notation import CURRENCY
from pytest_rageval.text.quantities import Quantity, quantities, whole_quantity

__all__ = ["WrittenNumber", "written_numbers"]

_NUMBER = re.compile(
    rf"(?P<head>[-+负]?(?:(?:{CURRENCY}) ?)?-?)(?<![\d.,/:])(?<!\d[-–—])"
    r"(?P<core>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?![\d/:]|[.,]\d|[-–—]\d|[eE^][-+]?\d)",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[ -]?(?:[^\W\d]|[%‰‱°℃$€£¥])[^\d\n,;:!?，。；：！？、]{0,30}")
_WORD_END = re.compile(r"(?<=\w)(?!\w)|(?<=[a-zA-Z])(?![a-zA-Z])|(?<=[^\x00-\x7f])|(?<=[%$€£¥²³])")
_REACH = 30
"""How many characters around a number are parsed for its quantity."""

_WIDE = str.maketrans("0123456789,.", "０１２３４５６７８９，．")


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number of a text as it is written.

    Attributes:
        start: offset of the number, including its currency.
        end: offset of its end, including its unit.
        core: offset of its first digit.
        digits: its digits as written, such as ``1,577``.
        quantity: its value and unit.
    """

    start: int
    end: int
    core: int
    digits: str
    quantity: Quantity

    @property
    def decimals(self) -> int:
        """Number of digits after the decimal point."""
        return len(self.plain.partition(".")[2])

    @property
    def plain(self) -> str:
        """The digits without separators of thousands, in ASCII."""
        return same_length(self.digits).replace(",", "")

    @property
    def mantissa(self) -> int:
        """The digits as one whole number: 52 for 5.2."""
        return int(self.plain.replace(".", ""))

    def times(self, ratio: Fraction) -> Edit | None:
        """Return the edit that multiplies the number in its form; None if the form has too few decimals."""
        product = self.mantissa * ratio
        return None if product.denominator != 1 else Edit(self.core, self.core + len(self.digits), self.write(product))

    def write(self, mantissa: int | Fraction) -> str:
        """Format another mantissa like this number: the same decimals, separators and width."""
        digits = str(mantissa).zfill(len(self.plain.replace(".", "")))
        whole, decimals = digits[: len(digits) - self.decimals], digits[len(digits) - self.decimals :]
        if "," in same_length(self.digits):
            whole = f"{int(whole):,}"
        formatted = f"{whole}.{decimals}" if self.decimals else whole
        return formatted if self.digits.isascii() else formatted.translate(_WIDE)


def written_numbers(text: str) -> Iterator[WrittenNumber]:
    """Yield the numbers of a text with their units; skip those of names, ordinals, ranges, scores, dates and times."""
    narrow = same_length(text)
    without_parentheses = narrow.replace("(", " ").replace(")", " ")  # (5 euros) is no negative amount here
    dates = [
        (start, end)
        for start, end, date in located_dates(narrow)
        if date is None or any(date[1:]) or not narrow[start:end].isdigit()  # a bare 2015 may be a number
    ]
    for match in _NUMBER.finditer(narrow):
        if any(start <= match.start("core") < end for start, end in dates):
            continue
        quantities_nearby = set(quantities(without_parentheses[max(0, match.start() - _REACH) : match.end() + _REACH]))
        reading = next((each for each in _readings(narrow, match) if each[2] in quantities_nearby), None)
        if reading is not None:
            start, end, quantity = reading
            digits = text[match.start("core") : match.end("core")]
            yield WrittenNumber(
                start, end, match.start("core"), digits, _with_noun(quantity, narrow[start : end + _REACH])
            )


def _readings(text: str, match: re.Match[str]) -> Iterator[tuple[int, int, Quantity]]:
    """Yield the longest span that parses as one quantity, with and without its sign or currency."""
    core = match.start("core")
    tail = _TAIL.match(text, match.end())
    ends = [match.end() + each.start() for each in _WORD_END.finditer(tail[0])] if tail else []
    for end in [*reversed(ends), match.end()]:
        parsed = [(start, whole_quantity(text[start:end])) for start in dict.fromkeys((match.start(), core))]
        readings = [(start, end, quantity) for start, quantity in parsed if quantity is not None]
        if readings:
            yield from readings
            return


def _with_noun(quantity: Quantity, window: str) -> Quantity:
    """Return the quantity with the noun after it."""
    return next((one for one in quantities(window) if one == quantity), quantity)
