"""Whether two quantities are the same number of the same unit, and whether a text states one."""

from __future__ import annotations

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
"""A number of at least three digits is taken as rounded, one of fewer as a round number."""

_LEFT_OUT = (2, 3, 4, 6, 8, 9, 12)
"""Powers of ten that are left out if a table says "in millions" or "%"."""

_SCALES = (Fraction(1), *(scale for power in _LEFT_OUT for scale in (Fraction(10**power), Fraction(1, 10**power))))

_LONGEST_TEXT, _LONGEST_ALIAS = 10_000, 60
"""Characters of the longest text whose quantities are read, and of the longest alias that may be one."""


def states(text: str, alias: str) -> bool:
    """Return whether ``alias`` is one quantity, and ``text`` states it.

    Number and sign have to be the same, as for `relation`, and so does the unit, unless one side leaves it out: $1,577
    million is 1.577 billion dollars, and 5% is 5 percent, but not 0.05. A word behind a number that is no known unit
    is a unit of its own: 5 kg is not 5 boxes. An alias that ends with its digits says nothing
    of what follows them: $1577.00 is stated by $1,577 million, but not by 1577 euros. A negative quantity needs a minus
    in the text (`notation.negative_span`), so that five (5) is not -5. Texts of more than 10,000 characters are not
    read.
    """
    if len(alias) > _LONGEST_ALIAS or len(text) > _LONGEST_TEXT:
        return False
    wanted = _whole(alias)
    if wanted is None or (wanted.high < 0 and not has_negative(text)):
        return False
    said = [one for one in read(text) if one.unit not in (DATE, TIME, UNKNOWN)]
    if any(
        _comparable(wanted, one) and _of_one_kind(wanted, one) and _same_numbers(*_in_one_unit(wanted, one))
        for one in said
    ):
        return True
    return alias.rstrip()[-1:].isdecimal() and any(
        wanted.unit in ("", one.unit) and _written(wanted) == _written(one) for one in said
    )


@lru_cache(maxsize=64)
def read(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text (`quantities`)."""
    return quantities(text)


@lru_cache(maxsize=256)
def _whole(alias: str) -> Quantity | None:
    return whole_quantity(alias)


def _written(one: Quantity) -> tuple[Fraction, Fraction]:
    """Return the number as its digits say it, whatever word multiplies it."""
    return one.low / one.factor / one.scale, one.high / one.factor / one.scale


def relation(gold: Quantity, said: Quantity) -> Relation:
    """Return whether two quantities are the same, could be, are not, or cannot be compared."""
    if UNKNOWN in (gold.unit, said.unit):
        return "near"
    if DATE in (gold.unit, said.unit):
        return _dates(gold, said)
    if TIME in (gold.unit, said.unit):
        if gold.unit != said.unit:
            return "apart"
        return "same" if gold.low == said.low else "near" if abs(gold.low - said.low) == 720 else "other"
    if _comparable(gold, said):
        found = _numbers(*_in_one_unit(gold, said))
        return found if found != "same" or _of_one_kind(gold, said) else "near"
    if {gold.unit, said.unit} == {"", "%"}:
        plain, percent = (gold, said) if gold.unit == "" else (said, gold)
        if plain.step < 1 and _numbers(replace(plain, low=plain.low * 100, high=plain.high * 100), percent) == "same":
            return "same"
        return "apart" if _numbers(gold, said) == "other" else "near"
    return "apart"


def _comparable(gold: Quantity, said: Quantity) -> bool:
    """Return whether two numbers have one unit, or one of them leaves out a unit that is no ratio."""
    units = frozenset((gold.unit, said.unit))
    return len(units) == 1 or units in EITHER or ("" in (gold.unit, said.unit) and not RATIOS & {gold.unit, said.unit})


def _of_one_kind(gold: Quantity, said: Quantity) -> bool:
    """Return whether no unknown unit stands behind one number where the other one has another unit."""
    kinds = {gold.noun or gold.unit, said.noun or said.unit} - {""}
    return len(kinds) < 2 or not (gold.noun or said.noun)


def _in_one_unit(gold: Quantity, said: Quantity) -> tuple[Quantity, Quantity]:
    """Return both, a bare number in the unit that the other one is written in: 3 beside "3 years" is 36 months."""
    return (gold if gold.unit else _times(gold, said.factor)), (said if said.unit else _times(said, gold.factor))


def as_written(one: Quantity) -> Quantity:
    """Return the bare number that stands in the text, before its unit is converted: 3 for 3 years."""
    return replace(_times(one, 1 / one.factor), unit="", factor=Fraction(1))


def _times(one: Quantity, factor: Fraction) -> Quantity:
    """Return a quantity multiplied by a factor."""
    return replace(one, low=one.low * factor, high=one.high * factor, step=one.step * factor)


def _dates(gold: Quantity, said: Quantity) -> Relation:
    if gold.unit != said.unit:
        year, other = (gold.year, said) if gold.year else (said.year, gold)
        if not year:
            return "apart"
        named = other.date[0] if other.unit == DATE else other.year
        if other is gold and gold.unit == DATE and any(gold.date[1:]):
            return "near" if named in (0, year) else "apart"
        return "same" if named == year else "other" if named else "apart"
    pairs = list(zip(gold.date, said.date, strict=True))
    if any(wanted and there and wanted != there for wanted, there in pairs):
        return "other"
    return "same" if all(there == wanted or not wanted for wanted, there in pairs) else "near"


def _numbers(gold: Quantity, said: Quantity) -> Relation:
    if (gold.low == gold.high) != (said.low == said.high):
        return "near" if gold.low <= said.high and said.low <= gold.high else "other"
    if gold.low == gold.high:
        return _number(gold.low, said.low, gold, said)
    ends = {_number(gold.low, said.low, gold, said), _number(gold.high, said.high, gold, said)}
    return "other" if "other" in ends else "near" if "near" in ends else "same"


def _same_numbers(gold: Quantity, said: Quantity) -> bool:
    ranges = gold.low != gold.high, said.low != said.high
    if ranges[0] != ranges[1] or not _same_number(gold.low, said.low, gold, said):
        return False
    return not ranges[0] or _same_number(gold.high, said.high, gold, said)


def _same_number(wanted: Fraction, there: Fraction, gold: Quantity, said: Quantity) -> bool:
    apart = abs(wanted - there)
    return apart == 0 or (said.step <= gold.step and gold.digits >= _SURE_DIGITS and 2 * apart < gold.step)


def _number(wanted: Fraction, there: Fraction, gold: Quantity, said: Quantity) -> Relation:
    if _same_number(wanted, there, gold, said):
        return "same"
    if abs(wanted - there) < max(gold.step, said.step):
        return "near"
    for scale in _SCALES if wanted and there else _SCALES[:1]:
        if 2 * abs(abs(wanted) - abs(there) * scale) <= max(_coarsest(gold), _coarsest(said) * scale):
            return "near"
    return "other"


def _coarsest(one: Quantity) -> Fraction:
    """Return what the last digit but zeros, the second at least, would add, for a number of three digits or more.

    A number such as 12,300 may be rounded so; a year is not.
    """
    if one.digits < _SURE_DIGITS or one.year or not one.low or not one.step:
        return one.step
    stated = abs(one.low / one.step)
    zeros = len(str(stated)) - len(str(stated).rstrip("0")) if stated.denominator == 1 else 0
    return one.step * Fraction(10 ** min(zeros, one.digits - 2))
