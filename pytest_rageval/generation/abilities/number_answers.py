"""Numbers and amounts of money as answers. A value is the ratio to the gold number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from random import Random

from pytest_rageval.generation.abilities.answer import Kind
from pytest_rageval.generation.abilities.edit import Drop, Edit, all_edited, in_name, is_wordy
from pytest_rageval.generation.abilities.written_numbers import WrittenNumber, written_numbers
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.metrics.shared.same_quantity import relation
from pytest_rageval.text.notation import CURRENCY
from pytest_rageval.text.quantities import DATE, TIME, UNKNOWN, Quantity, quantities

__all__ = ["NumberAnswer", "number_answer"]

_MONEY = frozenset({"CNY", "USD", "HKD", "EUR", "JPY", "GBP"})
_LOW, _HIGH = (Fraction(2, 5), Fraction(4, 5)), (Fraction(6, 5), Fraction(5, 2))
_DRAWS = 48
_CLOSE = 24
"""Characters between an amount of money and the same amount in another currency."""

_LONGEST_SUM = 6
"""Most numbers in a row whose sum is compared with the answer."""

_REACH = 32
"""Characters before a number in which a range may begin."""

_DASH = rf" ?[-–—~～〜] ?(?:{CURRENCY})? ?"
_UNIT = r"(?:(?: ?[^\W\d]{1,12}){1,2}| ?[%％℃])?"
_TO_NEXT = re.compile(rf"{_UNIT}{_DASH}\d", re.IGNORECASE)
_FROM_LAST = re.compile(rf"\d{_UNIT}{_DASH}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NumberAnswer:
    """A gold slot whose aliases state one number.

    Attributes:
        aliases: the aliases of the slot.
        number: the number of the first alias that has one.
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
        ranges = [_multiples(old, low, high, step, least, min(most, 10**digits - 1)) for low, high in (_LOW, _HIGH)]
        both = [each for each in ranges if each]
        for _ in range(_DRAWS if both and old > 1 else 0):
            chosen = random.choice(both)
            yield Fraction(chosen[random.randrange(len(chosen))], old)

    def value_of(self, text: str) -> Fraction | None:
        """Return the ratio of the one number of ``text`` to the gold number; None for another form or scale."""
        found = list(written_numbers(text))
        if len(found) != 1 or found[0].quantity.unit != self.number.quantity.unit:
            return None
        ratio = found[0].quantity.low / self.number.quantity.low
        in_scale = any(low <= ratio <= high for low, high in (_LOW, _HIGH))
        return ratio if in_scale and self.number.times(ratio) else None

    def fakes(self, value: Fraction) -> tuple[str, ...]:
        """Return the aliases with their numbers multiplied."""

        def edits(alias: str) -> tuple[Edit, ...]:
            changed = [number.times(value) for number in _written(alias)]
            return tuple(edit for edit in changed if edit is not None)

        return all_edited(self.aliases, edits)

    def edits(self, text: str, value: Fraction) -> tuple[Edit, ...] | Drop:
        """Return the edits of the numbers equal to the gold one; none if they count two things, or one ends a range."""
        stating = [number for number in _written(text) if self._is_stated_by(number.quantity)]
        if self._ends_range(text, stating):
            return Drop("ambiguous_value", "it is an end of a range")
        things = {number.quantity.noun or number.quantity.unit for number in stating} - {""}
        if len(things) > 1:
            return Drop("ambiguous_value", f"it counts {' and '.join(sorted(things))}")
        why = self._given_away(text, stating)
        if why:
            return Drop("ambiguous_value", why)
        edits = [number.times(value) for number in stating]
        if None in edits:
            return Drop("other_form", "the passage rounds the number in another way")
        return tuple(edit for edit in edits if edit is not None)

    def left_in(self, text: str) -> bool:
        """Return whether the gold number, or a rounded form of it with its unit, is in ``text``."""
        return any(contains(text, alias) for alias in self.aliases) or _has(text, self.number.quantity)

    def states(self, text: str, value: Fraction) -> bool:
        """Return whether the multiplied number is in ``text``."""
        gold = self.number.quantity
        other = replace(gold, low=gold.low * value, high=gold.high * value)
        return any(contains(text, fake) for fake in self.fakes(value)) or _has(text, other)

    def _given_away(self, text: str, stating: Sequence[WrittenNumber]) -> str:
        """Return how other numbers of the text state the gold one: as their sum, or in another currency; else ""."""
        numbers = _written(text)
        for number in stating:
            close = [one for one in numbers if one.start < number.end + _CLOSE and number.start < one.end + _CLOSE]
            units = {one.quantity.unit for one in close} & _MONEY - {number.quantity.unit}
            if self.kind == "money" and units:
                return f"it is converted to {units.pop()}"
        others = [one.quantity.low for one in numbers if one not in stating]
        for start, end in combinations(range(len(others) + 1), 2):
            if 2 <= end - start <= _LONGEST_SUM and sum(others[start:end]) == self.number.quantity.low:
                return f"{end - start} other numbers add up to it"
        return ""

    def _ends_range(self, text: str, stating: Sequence[WrittenNumber]) -> bool:
        """Return whether a range of the text begins or ends with the gold number; "from 70 to 80" may be a change."""
        ranges = [one for one in quantities(text) if one.low != one.high]
        ends = [replace(one, low=end, high=end) for one in ranges for end in (one.low, one.high)]
        return any(map(self._is_stated_by, ends)) or any(
            _TO_NEXT.match(text, one.core + len(one.digits))
            or _FROM_LAST.search(text[max(0, one.core - _REACH) : one.core])
            for one in stating
        )

    @property
    def _is_share(self) -> bool:
        return abs(self.number.quantity.low) <= 100

    def _is_stated_by(self, one: Quantity) -> bool:
        gold = self.number.quantity
        if relation(gold, one) != "same":
            return False
        if gold.unit and one.unit:
            return gold.low == one.low
        return gold.low / gold.factor == one.low / one.factor or gold.low == one.low


def number_answer(aliases: tuple[str, ...]) -> NumberAnswer | None:
    """Return the slot as a number; None if its aliases do not all state one number, and little else."""
    found = [(alias, _written(alias)) for alias in aliases]
    numbers = [each[0] for alias, each in found if len(each) == 1 and len(quantities(alias)) == 1]
    if not numbers or any(len(each) > 1 for _, each in found) or numbers[0].quantity.low == 0:
        return None
    if any(relation(numbers[0].quantity, other.quantity) != "same" for other in numbers[1:]):
        return None
    if any(in_name(alias, one.start) for alias, each in found for one in each):
        return None
    wordy = any(is_wordy(alias, [(one.start, one.end) for one in each]) for alias, each in found)
    return None if wordy else NumberAnswer(aliases, numbers[0])


@lru_cache(maxsize=512)
def _written(text: str) -> tuple[WrittenNumber, ...]:
    return tuple(written_numbers(text))


def _has(text: str, quantity: Quantity) -> bool:
    """Return whether a quantity is in a text, exactly or, with the same unit, rounded."""
    for one in quantities(text):
        if one.unit in (DATE, TIME, UNKNOWN) or not _may_be_equal(quantity, one):
            continue
        kind = relation(quantity, one)
        if kind == "same" or (kind == "near" and one.unit == quantity.unit != ""):
            return True
    return False


def _may_be_equal(one: Quantity, other: Quantity) -> bool:
    """Return False for two numbers that differ by more than a half, in both units; it is cheaper than `relation`."""
    if {one.unit, other.unit} == {"", "%"}:
        return True
    ours, theirs = ({float(each.low), float(each.low / each.factor)} for each in (one, other))
    return any(abs(x) <= 2 * abs(y) and abs(y) <= 2 * abs(x) for x in ours for y in theirs)


def _step(mantissa: int) -> int:
    """Return the step of other numbers: a round number keeps its zeros, except one if it has a single other digit."""
    digits = str(mantissa)
    zeros = len(digits) - len(digits.rstrip("0"))
    return int(10 ** max(0, zeros - max(0, 2 - (len(digits) - zeros))))


def _multiples(old: int, low: Fraction, high: Fraction, step: int, least: int, most: int) -> range:
    first = max(least, int(-(-old * low // 1)))
    last = min(most, int(old * high // 1))
    return range(-(-first // step) * step, last + 1, step)
