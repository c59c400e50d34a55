"""Numbers and amounts of money as gold answers; a value is the ratio to the gold number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from random import Random

from pytest_rageval.generation.abilities.answer import Kind
from pytest_rageval.generation.abilities.edit import Drop, Edit, edit_all, in_name, is_wordy
from pytest_rageval.generation.abilities.written_numbers import WrittenNumber, written_numbers
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.metrics.shared.same_quantity import relation
from pytest_rageval.text.notation import CURRENCY
from pytest_rageval.text.quantities import DATE, TIME, UNKNOWN, Quantity, quantities

__all__ = ["NumberAnswer", "number_answer"]

_MONEY = frozenset({"CNY", "USD", "HKD", "EUR", "JPY", "GBP"})
_SMALLER, _LARGER = (Fraction(2, 5), Fraction(4, 5)), (Fraction(6, 5), Fraction(5, 2))
"""Ranges of the ratio of a false number to the gold number."""

_MAX_CANDIDATES = 48
"""Maximum number of false numbers to try."""

_CLOSE = 24
"""Maximum distance in characters between an amount of money and its conversion to another currency."""

_MAX_ADDENDS = 6
"""Maximum count of consecutive numbers whose sum is compared with the answer."""

_REACH = 32
"""How many characters before a number are searched for the start of a range."""

_DASH = rf" ?[-–—~～〜] ?(?:{CURRENCY})? ?"
_UNIT = r"(?:(?: ?[^\W\d]{1,12}){1,2}| ?[%％℃])?"
_TO_NEXT = re.compile(rf"{_UNIT}{_DASH}\d", re.IGNORECASE)
_FROM_LAST = re.compile(rf"\d{_UNIT}{_DASH}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NumberAnswer:
    """A gold slot whose aliases state the same number.

    Attributes:
        aliases: the aliases of the slot.
        number: the number of the first alias that has a number.
    """

    aliases: tuple[str, ...]
    number: WrittenNumber

    @property
    def kind(self) -> Kind:
        """Money for a number with a currency."""
        return "money" if self.number.quantity.unit in _MONEY else "number"

    def others(self, random: Random) -> Iterator[Fraction]:
        """Yield ratios in 0.4..0.8 and 1.2..2.5 that keep the number of digits, the decimals and the rounding."""
        old = self.number.mantissa
        digits, step = len(str(old)), _step(old)
        most = 10**self.number.decimals * 100 if self.number.quantity.unit == "%" and self._is_share else 10**digits
        least = 10 ** (digits - 1) if digits > 1 else 2
        ranges = [
            _multiples(old, low, high, step, least, min(most, 10**digits - 1)) for low, high in (_SMALLER, _LARGER)
        ]
        usable_ranges = [each for each in ranges if each]
        for _ in range(_MAX_CANDIDATES if usable_ranges and old > 1 else 0):
            multiples = random.choice(usable_ranges)
            yield Fraction(multiples[random.randrange(len(multiples))], old)

    def value_of(self, text: str) -> Fraction | None:
        """Return the ratio of the only number of ``text`` to the gold number; None for another form or scale."""
        numbers = list(written_numbers(text))
        if len(numbers) != 1 or numbers[0].quantity.unit != self.number.quantity.unit:
            return None
        ratio = numbers[0].quantity.low / self.number.quantity.low
        in_scale = any(low <= ratio <= high for low, high in (_SMALLER, _LARGER))
        return ratio if in_scale and self.number.times(ratio) else None

    def fakes(self, value: Fraction) -> tuple[str, ...]:
        """Return the aliases with their numbers multiplied by ``value``."""

        def edits(alias: str) -> tuple[Edit, ...]:
            edits_of_alias = [number.times(value) for number in _numbers_in(alias)]
            return tuple(edit for edit in edits_of_alias if edit is not None)

        return edit_all(self.aliases, edits)

    def edits(self, text: str, value: Fraction) -> tuple[Edit, ...] | Drop:
        """Return edits of all numbers that equal the gold number, or why they are ambiguous or cannot be edited.

        Ambiguous are numbers that count different things, end a range, or are stated again in another way.
        """
        matches = [number for number in _numbers_in(text) if self._is_stated_by(number.quantity)]
        if self._ends_range(text, matches):
            return Drop("ambiguous_value", "it is an end of a range")
        things = {number.quantity.noun or number.quantity.unit for number in matches} - {""}
        if len(things) > 1:
            return Drop("ambiguous_value", f"it counts {' and '.join(sorted(things))}")
        problem = self._revealed_by(text, matches)
        if problem:
            return Drop("ambiguous_value", problem)
        edits = [number.times(value) for number in matches]
        if None in edits:
            return Drop("other_form", "the passage rounds the number in another way")
        return tuple(edit for edit in edits if edit is not None)

    def gold_is_in(self, text: str) -> bool:
        """Return whether ``text`` has the gold number, or a rounded form of it with the same unit."""
        return any(contains(text, alias) for alias in self.aliases) or _has(text, self.number.quantity)

    def value_is_in(self, text: str, value: Fraction) -> bool:
        """Return whether ``text`` has the gold number multiplied by ``value``."""
        gold = self.number.quantity
        other = replace(gold, low=gold.low * value, high=gold.high * value)
        return any(contains(text, fake) for fake in self.fakes(value)) or _has(text, other)

    def _revealed_by(self, text: str, matches: Sequence[WrittenNumber]) -> str:
        """Return how other numbers of the text reveal the gold number, by their sum or in another currency; else ""."""
        numbers = _numbers_in(text)
        for number in matches:
            close = [one for one in numbers if one.start < number.end + _CLOSE and number.start < one.end + _CLOSE]
            units = {one.quantity.unit for one in close} & _MONEY - {number.quantity.unit}
            if self.kind == "money" and units:
                return f"it is converted to {units.pop()}"
        others = [one.quantity.low for one in numbers if one not in matches]
        for start, end in combinations(range(len(others) + 1), 2):
            if 2 <= end - start <= _MAX_ADDENDS and sum(others[start:end]) == self.number.quantity.low:
                return f"{end - start} other numbers add up to it"
        return ""

    def _ends_range(self, text: str, matches: Sequence[WrittenNumber]) -> bool:
        """Return whether a range of the text begins or ends with the gold number; "from 70 to 80" may be a change."""
        ranges = [one for one in quantities(text) if one.low != one.high]
        ends = [replace(one, low=end, high=end) for one in ranges for end in (one.low, one.high)]
        return any(map(self._is_stated_by, ends)) or any(
            _TO_NEXT.match(text, one.core + len(one.digits))
            or _FROM_LAST.search(text[max(0, one.core - _REACH) : one.core])
            for one in matches
        )

    @property
    def _is_share(self) -> bool:
        return abs(self.number.quantity.low) <= 100

    def _is_stated_by(self, one: Quantity) -> bool:
        """Return whether a quantity equals the gold number."""
        gold = self.number.quantity
        if relation(gold, one) != "same":
            return False
        if gold.unit and one.unit:
            return gold.low == one.low
        return gold.low / gold.factor == one.low / one.factor or gold.low == one.low


def number_answer(aliases: tuple[str, ...]) -> NumberAnswer | None:
    """Parse a slot as a number; None if an alias states no number, another one, or much other text."""
    numbers_of_aliases = [(alias, _numbers_in(alias)) for alias in aliases]
    numbers = [each[0] for alias, each in numbers_of_aliases if len(each) == 1 and len(quantities(alias)) == 1]
    if not numbers or any(len(each) > 1 for _, each in numbers_of_aliases) or numbers[0].quantity.low == 0:
        return None
    if any(relation(numbers[0].quantity, other.quantity) != "same" for other in numbers[1:]):
        return None
    if any(in_name(alias, one.start) for alias, each in numbers_of_aliases for one in each):
        return None
    wordy = any(is_wordy(alias, [(one.start, one.end) for one in each]) for alias, each in numbers_of_aliases)
    return None if wordy else NumberAnswer(aliases, numbers[0])


@lru_cache(maxsize=512)
def _numbers_in(text: str) -> tuple[WrittenNumber, ...]:
    return tuple(written_numbers(text))


def _has(text: str, quantity: Quantity) -> bool:
    """Return whether a text states a quantity, exactly or, with the same unit, rounded."""
    for one in quantities(text):
        if one.unit in (DATE, TIME, UNKNOWN) or not _may_be_equal(quantity, one):
            continue
        kind = relation(quantity, one)
        if kind == "same" or (kind == "undecided" and one.unit == quantity.unit != ""):
            return True
    return False


def _may_be_equal(one: Quantity, other: Quantity) -> bool:
    """Return False if two numbers differ by more than a factor of two in both units; cheaper than `relation`."""
    if {one.unit, other.unit} == {"", "%"}:
        return True
    values, other_values = ({float(each.low), float(each.low / each.factor)} for each in (one, other))
    return any(abs(x) <= 2 * abs(y) and abs(y) <= 2 * abs(x) for x in values for y in other_values)


def _step(mantissa: int) -> int:
    """Return the step between false numbers: it keeps trailing zeros, but one fewer if a single other digit remains."""
    digits = str(mantissa)
    zeros = len(digits) - len(digits.rstrip("0"))
    return int(10 ** max(0, zeros - max(0, 2 - (len(digits) - zeros))))


def _multiples(old: int, low: Fraction, high: Fraction, step: int, least: int, most: int) -> range:
    first = max(least, int(-(-old * low // 1)))
    last = min(most, int(old * high // 1))
    return range(-(-first // step) * step, last + 1, step)
