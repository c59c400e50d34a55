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

__all__ = ["as_written", "read", "relation", "states"]

Relation = Literal["same", "near", "other", "apart"]

_SURE_DIGITS = 3
"""A number of at least this many digits may be rounded; a shorter one is a round number."""

_LEFT_OUT = (2, 3, 4, 6, 8, 9, 12)
"""Powers of ten that are missing from numbers in a table "in millions" or "in %"."""

_SCALES = ((1, 1), *(scale for power in _LEFT_OUT for scale in ((10**power, 1), (1, 10**power))))
"""The factors by which a number may differ, as numerator and denominator."""

_LONGEST_TEXT, _LONGEST_ALIAS = 10_000, 60
"""Length of the longest text that is read, and of the longest alias that can be a quantity."""


def states(text: str, alias: str) -> bool:
    """Return whether ``alias`` is one quantity, and ``text`` states it.

    Number and sign must be the same, as for `relation`, and so must the unit, unless one side leaves it out: $1,577
    million is 1.577 billion dollars, and 5% is 5 percent, but not 0.05. An unknown word after a number is a unit of its
    own: 5 kg is not 5 boxes. An alias that ends with its digits may lack a multiplier: $1,577 million states $1577.00,
    but 1577 euros does not. A negative quantity needs a minus in the text (`notation.negative_span`): five (5) is not
    -5. Texts of more than 10,000 characters are not read.
    """
    if len(alias) > _LONGEST_ALIAS or len(text) > _LONGEST_TEXT:
        return False
    quantity = _whole(alias)
    if quantity is None or (quantity.high < 0 and not has_negative(text)):
        return False
    in_text = [one for one in read(text) if one.unit not in (DATE, TIME, UNKNOWN)]
    if any(
        _comparable(quantity, one) and _of_one_kind(quantity, one) and _same_numbers(*_in_one_unit(quantity, one))
        for one in in_text
    ):
        return True
    return alias.rstrip()[-1:].isdecimal() and any(
        quantity.unit in ("", one.unit) and _written(quantity) == _written(one) for one in in_text
    )


@lru_cache(maxsize=64)
def read(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text (`quantities`)."""
    return quantities(text)


@lru_cache(maxsize=256)
def _whole(alias: str) -> Quantity | None:
    return whole_quantity(alias)


def _written(one: Quantity) -> tuple[Fraction, Fraction]:
    """Return the number of the digits alone, without the word that multiplies it."""
    return one.low / one.factor / one.scale, one.high / one.factor / one.scale


def relation(gold: Quantity, answer: Quantity) -> Relation:
    """Return whether two quantities are the same, could be ("near"), differ, or are not comparable ("apart")."""
    if UNKNOWN in (gold.unit, answer.unit):
        return "near"
    if DATE in (gold.unit, answer.unit):
        return _dates(gold, answer)
    if TIME in (gold.unit, answer.unit):
        if gold.unit != answer.unit:
            return "apart"
        return "same" if gold.low == answer.low else "near" if abs(gold.low - answer.low) == 720 else "other"
    if _comparable(gold, answer):
        numbers = _numbers(*_in_one_unit(gold, answer))
        return numbers if numbers != "same" or _of_one_kind(gold, answer) else "near"
    if {gold.unit, answer.unit} == {"", "%"}:
        plain, percent = (gold, answer) if gold.unit == "" else (answer, gold)
        if plain.step < 1 and _numbers(replace(plain, low=plain.low * 100, high=plain.high * 100), percent) == "same":
            return "same"
        return "apart" if _numbers(gold, answer) == "other" else "near"
    return "apart"


def _comparable(gold: Quantity, answer: Quantity) -> bool:
    """Return whether two numbers have the same unit, or one of them leaves out a unit that is not a ratio."""
    units = frozenset((gold.unit, answer.unit))
    return (
        len(units) == 1 or units in EITHER or ("" in (gold.unit, answer.unit) and not RATIOS & {gold.unit, answer.unit})
    )


def _of_one_kind(gold: Quantity, answer: Quantity) -> bool:
    """Return False if the units differ and at least one of them is an unknown word."""
    kinds = {gold.noun or gold.unit, answer.noun or answer.unit} - {""}
    return len(kinds) < 2 or not (gold.noun or answer.noun)


def _in_one_unit(gold: Quantity, answer: Quantity) -> tuple[Quantity, Quantity]:
    """Return both quantities; a bare number gets the unit of the other one: 3 compared with "3 years" is 36 months."""
    return (gold if gold.unit else _times(gold, answer.factor)), (
        answer if answer.unit else _times(answer, gold.factor)
    )


def as_written(one: Quantity) -> Quantity:
    """Return the number as written, before the conversion of its unit: 3 for 3 years."""
    return replace(_times(one, 1 / one.factor), unit="", factor=Fraction(1))


def _times(one: Quantity, factor: Fraction) -> Quantity:
    """Return a quantity multiplied by a factor."""
    return replace(one, low=one.low * factor, high=one.high * factor, step=one.step * factor)


def _dates(gold: Quantity, answer: Quantity) -> Relation:
    if gold.unit != answer.unit:
        year, other = (gold.year, answer) if gold.year else (answer.year, gold)
        if not year:
            return "apart"
        year_of_other = other.date[0] if other.unit == DATE else other.year
        if other is gold and gold.unit == DATE and any(gold.date[1:]):
            return "near" if year_of_other in (0, year) else "apart"
        return "same" if year_of_other == year else "other" if year_of_other else "apart"
    pairs = list(zip(gold.date, answer.date, strict=True))
    if any(ours and theirs and ours != theirs for ours, theirs in pairs):
        return "other"
    return "same" if all(theirs == ours or not ours for ours, theirs in pairs) else "near"


def _numbers(gold: Quantity, answer: Quantity) -> Relation:
    if (gold.low == gold.high) != (answer.low == answer.high):
        return "near" if gold.low <= answer.high and answer.low <= gold.high else "other"
    if gold.low == gold.high:
        return _number(gold.low, answer.low, gold, answer)
    ends = {_number(gold.low, answer.low, gold, answer), _number(gold.high, answer.high, gold, answer)}
    return "other" if "other" in ends else "near" if "near" in ends else "same"


def _same_numbers(gold: Quantity, answer: Quantity) -> bool:
    ranges = gold.low != gold.high, answer.low != answer.high
    if ranges[0] != ranges[1] or not _same_number(gold.low, answer.low, gold, answer):
        return False
    return not ranges[0] or _same_number(gold.high, answer.high, gold, answer)


def _same_number(ours: Fraction, theirs: Fraction, gold: Quantity, answer: Quantity) -> bool:
    apart = abs(ours - theirs)
    return apart == 0 or (answer.step <= gold.step and gold.digits >= _SURE_DIGITS and 2 * apart < gold.step)


def _number(ours: Fraction, theirs: Fraction, gold: Quantity, answer: Quantity) -> Relation:
    if _same_number(ours, theirs, gold, answer):
        return "same"
    if abs(ours - theirs) < max(gold.step, answer.step):
        return "near"
    return "near" if _alike(abs(ours), abs(theirs), _coarsest(gold), _coarsest(answer)) else "other"


def _alike(ours: Fraction, theirs: Fraction, our_step: Fraction, their_step: Fraction) -> bool:
    """Return whether two numbers, times a factor of `_SCALES`, differ by at most half of the larger step.

    It counts in the common denominator, which is exact and much faster than fractions.
    """
    numbers = ours, theirs, our_step, their_step
    common = math.lcm(*(one.denominator for one in numbers))
    a, b, a_step, b_step = (one.numerator * (common // one.denominator) for one in numbers)
    scales = _SCALES if a and b else _SCALES[:1]
    return any(2 * abs(a * below - b * above) <= max(a_step * below, b_step * above) for above, below in scales)


def _coarsest(one: Quantity) -> Fraction:
    """Return the step of the last nonzero digit (at least the second digit) of a number of three digits or more.

    A number such as 12,300 may be rounded to that step; a year is not rounded.
    """
    if one.digits < _SURE_DIGITS or one.year or not one.low or not one.step:
        return one.step
    stated = abs(one.low / one.step)
    zeros = len(str(stated)) - len(str(stated).rstrip("0")) if stated.denominator == 1 else 0
    return one.step * Fraction(10 ** min(zeros, one.digits - 2))
