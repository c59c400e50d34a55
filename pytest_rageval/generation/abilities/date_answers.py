"""Dates as answers, a bare year included. A value is year, month and day, with 0 for a missing part."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from pytest_rageval.generation.abilities.answer import Kind
from pytest_rageval.generation.abilities.edit import Drop, Edit, all_edited, is_wordy, same_length
from pytest_rageval.generation.abilities.written_numbers import written_numbers
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.text.dates import located_dates

__all__ = ["DateAnswer", "date_answer"]

Date = tuple[int, int, int]

_DRAWS = 48
_NEAREST, _FURTHEST = 5, 40
_LATEST = 2020
"""Last year to draw for an earlier date: a later one would often be in the future of the text."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_TOKEN = re.compile(r"(?P<name>[A-Za-z]{3,})|(?P<year>\d{4})|(?P<short>\d{1,2})(?P<nth>st|nd|rd|th)?")
_YEAR = re.compile(r"(?:1\d|20)\d\d")


@dataclass(frozen=True, slots=True)
class DateAnswer:
    """A gold slot whose aliases state one date.

    Attributes:
        aliases: the aliases of the slot.
        date: the date.
    """

    aliases: tuple[str, ...]
    date: Date

    @property
    def kind(self) -> Kind:
        """Always ``date``."""
        return "date"

    def others(self, random: Random) -> Iterator[Date]:
        """Yield dates 5 to 40 years away, with another month and day if the gold date has them."""
        year, month, day = self.date
        for _ in range(_DRAWS):
            away = random.choice((-1, 1)) * random.randint(_NEAREST, _FURTHEST)
            other = (
                year + away if year else 0,
                random.choice([each for each in range(1, 13) if each != month]) if month else 0,
                random.choice([each for each in range(1, 29) if each != day]) if day else 0,
            )
            if not year or 1000 <= other[0] <= max(_LATEST, year):
                yield other

    def value_of(self, text: str) -> Date | None:
        """Return the one date of ``text``, if it has the same parts as the gold date."""
        found = _found(text)
        if len(found) != 1 or found[0][2] is None:
            return None
        same = all(bool(one) == bool(other) for one, other in zip(found[0][2], self.date, strict=True))
        return found[0][2] if same else None

    def fakes(self, value: Date) -> tuple[str, ...]:
        """Return the aliases with another date, each in its format."""
        return all_edited(self.aliases, lambda alias: self.edits(alias, value))

    def edits(self, text: str, value: Date) -> tuple[Edit, ...] | Drop:
        """Return the edits of the dates that have all parts of the gold date; their other parts stay."""
        new = value
        edits: list[Edit] = []
        for start, end, date in _found(text):
            if date is None or not self._is_stated_by(date):
                if self._may_be(date, text[start:end]):
                    return Drop("ambiguous_value", f"{text[start:end]} may be the same date")
                continue
            written = _written(text[start:end], new)
            if written is None or not _exists(tuple(n or d for n, d in zip(new, date, strict=True))):
                return Drop("other_form", f"no other date fits {text[start:end]}")
            edits += [Edit(start + each.start, start + each.end, each.text) for each in written]
        return tuple(edits)

    def left_in(self, text: str) -> bool:
        """Return whether the gold date is in ``text``."""
        return any(contains(text, alias) for alias in self.aliases) or self.states(text, self.date)

    def states(self, text: str, value: Date) -> bool:
        """Return whether a date with all parts of ``value`` is in ``text``."""
        other = DateAnswer((), value)
        return any(date is not None and other._is_stated_by(date) for _, _, date in _found(text))

    def _is_stated_by(self, date: Date) -> bool:
        return all(ours in (0, theirs) for ours, theirs in zip(self.date, date, strict=True))

    def _may_be(self, date: Date | None, text: str) -> bool:
        """Return whether a date without year has our month and day, or an ambiguous one our numbers."""
        if date is not None:
            return bool(self.date[0] and self.date[2]) and date == (0, *self.date[1:])
        numbers = {int(number) for number in re.findall(r"\d+", same_length(text))}
        return {part for part in self.date if part} <= numbers


def date_answer(aliases: tuple[str, ...]) -> DateAnswer | None:
    """Return the slot as a date; None if an alias states no date, another one, or much else."""
    found = [(alias, _found(alias)) for alias in aliases]
    dates = {date for _, each in found for _, _, date in each}
    if len(dates) != 1 or any(len(each) != 1 or is_wordy(alias, [span[:2] for span in each]) for alias, each in found):
        return None
    date = dates.pop()
    return None if date is None else DateAnswer(aliases, date)


@lru_cache(maxsize=512)
def _found(text: str) -> tuple[tuple[int, int, Date | None], ...]:
    """Return the dates of a text with their places; a bare number 1000 to 2099 is a year."""
    found = list(located_dates(same_length(text)))
    for number in written_numbers(text):
        inside = any(start < number.end and number.start < end for start, end, _ in found)
        if not inside and number.quantity.unit == "" and _YEAR.fullmatch(same_length(number.digits)):
            found.append((number.start, number.start + len(number.digits), (int(number.plain), 0, 0)))
    return tuple(sorted(found))


def _written(text: str, date: Date) -> list[Edit] | None:
    """Return the edits of the parts of one date; None if a part cannot be written in its form."""
    tokens = [match for match in _TOKEN.finditer(same_length(text)) if _is_part(match)]
    has_name = any(match["name"] for match in tokens)
    order = iter((2,) if has_name else (1, 2))
    edits = []
    for match in tokens:
        part = 0 if match["year"] else 1 if match["name"] else next(order, None)
        if part is None:
            return None
        if date[part]:
            new = _month_like(match[0], date[1]) if match["name"] else _number_like(match, date[part])
            edits.append(Edit(*match.span(), new))
    return edits


def _is_part(match: re.Match[str]) -> bool:
    return not match["name"] or any(month.casefold().startswith(match["name"][:3].casefold()) for month in _MONTHS)


def _month_like(old: str, month: int) -> str:
    """Return the name of a month, as short and in the case of another one."""
    name = _MONTHS[month - 1]
    is_whole = old.casefold() in (each.casefold() for each in _MONTHS) and len(old) > 3
    new = name if is_whole else "Sept" if month == 9 and len(old) > 3 else name[:3]
    return new.upper() if old.isupper() else new


def _number_like(match: re.Match[str], number: int) -> str:
    if match["year"]:
        return str(number)
    padded = match["short"].startswith("0") or match.string[match.end() : match.end() + 1] == "-"
    padded = padded or match.string[max(0, match.start() - 1) : match.start()] == "-"
    digits = str(number).zfill(2 if padded else 1)
    return digits + (_nth(number) if match["nth"] else "")


def _nth(day: int) -> str:
    return "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _exists(date: tuple[int, ...]) -> bool:
    year, month, day = date
    return not (month and day) or day <= monthrange(year or 2000, month)[1]
