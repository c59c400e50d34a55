"""Compare quantities by number and unit, and find a quantity in a text."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from pytest_rageval.text.notation import has_negative
from pytest_rageval.text.quantities import DATE, RATIOS, TIME, UNKNOWN, Quantity, quantities, whole_quantity
from pytest_rageval.text.units import EITHER

__all__ = ["as_written", "read_quantities", "relation", "states"]

Relation = Literal["same", "undecided", "different", "incomparable"]
"""Of two quantities: incomparable ones have different units; an undecided pair may be the same."""

_MIN_DIGITS = 3
"""Only a number with at least this many digits counts as the rounded form of another number."""

_OMITTED_POWERS = (2, 3, 4, 6, 8, 9, 12)
"""Powers of ten that numbers omit, such as in a table "in millions" or "in %"."""

_SCALES = ((1, 1), *(scale for power in _OMITTED_POWERS for scale in ((10**power, 1), (1, 10**power))))
"""The factors by which two numbers may differ then, as numerator and denominator."""

_MAX_TEXT, _MAX_ALIAS = 10_000, 60
"""Maximum characters of a text, and of an alias that is one quantity; longer ones are not read."""


def states(text: str, alias: str) -> bool:
    """Return whether ``alias`` is one quantity, and ``text`` states it.

    Number, sign and unit must be the same as in `relation`; one side may omit the unit. So $1,577 million is 1.577
    billion dollars, and 5% is 5 percent, but not 0.05. An unknown word after a number counts as a separate unit: 5 kg
    is not 5 boxes. An alias that ends with a digit may omit a multiplier: $1,577 million states $1577.00, but 1577
    euros does not. A negative quantity needs a minus in the text (`notation.negative_span`): five (5) is not -5. Texts
    of more than 10,000 characters are not read.
    """
    if len(alias) > _MAX_ALIAS or len(text) > _MAX_TEXT:
        return False
    quantity = _quantity_of(alias)
    if quantity is None or (quantity.high < 0 and not has_negative(text)):
        return False
    in_text = [one for one in read_quantities(text) if one.unit not in (DATE, TIME, UNKNOWN)]
    if any(
        _comparable(quantity, one) and _same_kind(quantity, one) and _same_range(*_in_same_unit(quantity, one))
        for one in in_text
    ):
        return True
    return alias.rstrip()[-1:].isdecimal() and any(
        quantity.unit in ("", one.unit) and _range_of_digits(quantity) == _range_of_digits(one) for one in in_text
    )


@lru_cache(maxsize=64)
def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text (see `text.quantities.quantities`), cached."""
    return quantities(text)


@lru_cache(maxsize=256)
def _quantity_of(alias: str) -> Quantity | None:
    return whole_quantity(alias)


def _range_of_digits(quantity: Quantity) -> tuple[Fraction, Fraction]:
    """Return both ends of a quantity as its digits state them: 5 for 5 million, without scale word and unit."""
    divisor = quantity.factor * quantity.scale
    return quantity.low / divisor, quantity.high / divisor


def relation(gold: Quantity, answer: Quantity) -> Relation:
    """Return how a quantity of an answer relates to a gold quantity.

    Numbers are compared as in `quantities.numerical_verdict`; ambiguous numbers are undecided.
    """
    if UNKNOWN in (gold.unit, answer.unit):
        return "undecided"
    if DATE in (gold.unit, answer.unit):
        return _date_relation(gold, answer)
    if TIME in (gold.unit, answer.unit):
        if gold.unit != answer.unit:
            return "incomparable"
        is_half_day_apart = abs(gold.low - answer.low) == 720  # 5:00 may be 17:00
        return "same" if gold.low == answer.low else "undecided" if is_half_day_apart else "different"
    if _comparable(gold, answer):
        numbers = _range_relation(*_in_same_unit(gold, answer))
        return numbers if numbers != "same" or _same_kind(gold, answer) else "undecided"
    if {gold.unit, answer.unit} == {"", "%"}:
        plain, percent = (gold, answer) if gold.unit == "" else (answer, gold)
        times_100 = replace(plain, low=plain.low * 100, high=plain.high * 100)
        if plain.step < 1 and _range_relation(times_100, percent) == "same":  # 0.05 is 5%
            return "same"
        return "incomparable" if _range_relation(gold, answer) == "different" else "undecided"
    return "incomparable"


def _comparable(gold: Quantity, answer: Quantity) -> bool:
    """Return whether two quantities have the same unit, or one of them omits a unit that is not a ratio."""
    units = frozenset((gold.unit, answer.unit))
    return (
        len(units) == 1 or units in EITHER or ("" in (gold.unit, answer.unit) and not RATIOS & {gold.unit, answer.unit})
    )


def _same_kind(gold: Quantity, answer: Quantity) -> bool:
    """Return whether two quantities count the same things: False if their units differ and one is unknown."""
    kinds = {gold.noun or gold.unit, answer.noun or answer.unit} - {""}
    return len(kinds) < 2 or not (gold.noun or answer.noun)


def _in_same_unit(gold: Quantity, answer: Quantity) -> tuple[Quantity, Quantity]:
    """Return both quantities in one unit; a bare number gets the other unit: 3 and 2 years are 36 and 24."""
    gold_in_unit = gold if gold.unit else _multiply(gold, answer.factor)
    answer_in_unit = answer if answer.unit else _multiply(answer, gold.factor)
    return gold_in_unit, answer_in_unit


def as_written(quantity: Quantity) -> Quantity:
    """Return the number before the conversion of its unit: 3 for 3 years."""
    return replace(_multiply(quantity, 1 / quantity.factor), unit="", factor=Fraction(1))


def _multiply(quantity: Quantity, factor: Fraction) -> Quantity:
    return replace(quantity, low=quantity.low * factor, high=quantity.high * factor, step=quantity.step * factor)


def _date_relation(gold: Quantity, answer: Quantity) -> Relation:
    """Return the relation of two quantities of which at least one is a date; the other may be a bare year."""
    if gold.unit != answer.unit:
        year, other = (gold.year, answer) if gold.year else (answer.year, gold)
        if not year:
            return "incomparable"
        year_of_other = other.date[0] if other.unit == DATE else other.year
        if other is gold and gold.unit == DATE and any(gold.date[1:]):
            return "undecided" if year_of_other in (0, year) else "incomparable"
        return "same" if year_of_other == year else "different" if year_of_other else "incomparable"
    pairs = list(zip(gold.date, answer.date, strict=True))
    if any(of_gold and of_answer and of_gold != of_answer for of_gold, of_answer in pairs):
        return "different"
    return "same" if all(of_answer == of_gold or not of_gold for of_gold, of_answer in pairs) else "undecided"


def _range_relation(gold: Quantity, answer: Quantity) -> Relation:
    """Return the relation of two numbers or ranges of one unit."""
    if (gold.low == gold.high) != (answer.low == answer.high):
        return "undecided" if gold.low <= answer.high and answer.low <= gold.high else "different"
    if gold.low == gold.high:
        return _number_relation(gold.low, answer.low, gold, answer)
    ends = {
        _number_relation(gold.low, answer.low, gold, answer),
        _number_relation(gold.high, answer.high, gold, answer),
    }
    return "different" if "different" in ends else "undecided" if "undecided" in ends else "same"


def _same_range(gold: Quantity, answer: Quantity) -> bool:
    """Return whether two numbers or ranges are the same; faster than `_range_relation`."""
    gold_is_range, answer_is_range = gold.low != gold.high, answer.low != answer.high
    if gold_is_range != answer_is_range or not _same_number(gold.low, answer.low, gold, answer):
        return False
    return not gold_is_range or _same_number(gold.high, answer.high, gold, answer)


def _same_number(gold_number: Fraction, answer_number: Fraction, gold: Quantity, answer: Quantity) -> bool:
    """Return whether two numbers are equal, or the gold number is the rounded form of the answer's number."""
    difference = abs(gold_number - answer_number)
    return difference == 0 or (answer.step <= gold.step and gold.digits >= _MIN_DIGITS and 2 * difference < gold.step)


def _number_relation(gold_number: Fraction, answer_number: Fraction, gold: Quantity, answer: Quantity) -> Relation:
    """Return the relation of two numbers, each one end of its quantity."""
    if _same_number(gold_number, answer_number, gold, answer):
        return "same"
    if abs(gold_number - answer_number) < max(gold.step, answer.step):
        return "undecided"
    may_be_same = _may_be_rescaled(abs(gold_number), abs(answer_number), _rounding_step(gold), _rounding_step(answer))
    return "undecided" if may_be_same else "different"


def _may_be_rescaled(one: Fraction, other: Fraction, one_step: Fraction, other_step: Fraction) -> bool:
    """Return whether two numbers differ by a factor of `_SCALES` and at most half of the larger rounding step.

    It computes with integers over the common denominator, which is exact and much faster than fractions.
    """
    numbers = one, other, one_step, other_step
    common = math.lcm(*(number.denominator for number in numbers))
    a, b, a_step, b_step = (number.numerator * (common // number.denominator) for number in numbers)
    scales = _SCALES if a and b else _SCALES[:1]
    return any(2 * abs(a * below - b * above) <= max(a_step * below, b_step * above) for above, below in scales)


def _rounding_step(quantity: Quantity) -> Fraction:
    """Return the largest step to which a number may be rounded: 100 for 12,300, from its final zeros.

    The first two digits, years and numbers of fewer than three digits are never rounded.
    """
    if quantity.digits < _MIN_DIGITS or quantity.year or not quantity.low or not quantity.step:
        return quantity.step
    digits = abs(quantity.low / quantity.step)
    zeros = len(str(digits)) - len(str(digits).rstrip("0")) if digits.denominator == 1 else 0
    return quantity.step * Fraction(10 ** min(zeros, quantity.digits - 2))
