"""Gold answers that are dates, or a bare year, and the fake dates that replace them."""

from __future__ import annotations

import datetime
import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from pytest_rageval.generation.abilities.answer import Kind
from pytest_rageval.generation.abilities.edit import Drop, Edit, edit_all, in_name, is_wordy, same_length
from pytest_rageval.generation.abilities.written_numbers import written_numbers
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.text.dates import located_dates

__all__ = ["DateAnswer", "date_answer"]

Date = tuple[int, int, int]
"""Year, month and day; 0 for a missing part."""

_DRAWS = 48
_YEARS_AWAY = {True: (5, 40), False: (1, 10)}
"""Minimum and maximum distance of a fake date in years: for a bare year (True), or a date with a month or day."""

_LATEST = 2020
"""Last year to draw for a gold date before it: later years would often be in the future of the text."""

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_TOKEN = re.compile(r"(?P<name>[A-Za-z]{3,})|(?P<year>\d{4})|(?P<short>\d{1,2})(?P<nth>st|nd|rd|th)?")
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TO = " ?(?:[-–—~～至到]|to|until|till|through|and) ?(?:the )?"
_TO_NEXT = re.compile(rf"{_TO}(?:\d|{_MONTH})", re.IGNORECASE)
_FROM_LAST = re.compile(rf"(?:\d(?:st|nd|rd|th)?|[年月日号]|{_MONTH}[a-z.]* \d{{1,2}}){_TO}\Z", re.IGNORECASE)
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
        """Yield fake dates: a year 5 to 40 years away, or a date up to 10 years away; a full date keeps its weekday."""
        year, month, day = self.date
        for _ in range(_DRAWS):
            away = random.choice((-1, 1)) * random.randint(*_YEARS_AWAY[not month])
            other = (
                year + away if year else 0,
                random.choice([each for each in range(1, 13) if each != month]) if month else 0,
                random.choice([each for each in range(1, 29) if each != day]) if day else 0,
            )
            if not year or 1000 <= other[0] <= max(_LATEST, year):
                yield _on_same_weekday(self.date, other) if all(self.date) else other

    def value_of(self, text: str) -> Date | None:
        """Return the one date of ``text``, if it has the same parts as the gold date."""
        dates = _dates_in(text)
        if len(dates) != 1 or dates[0][2] is None:
            return None
        has_same_parts = all(bool(one) == bool(other) for one, other in zip(dates[0][2], self.date, strict=True))
        return dates[0][2] if has_same_parts else None

    def fakes(self, value: Date) -> tuple[str, ...]:
        """Return the aliases with another date, each in its own format."""
        return edit_all(self.aliases, lambda alias: self.edits(alias, value))

    def edits(self, text: str, value: Date) -> tuple[Edit, ...] | Drop:
        """Return the edits that replace the gold date by ``value`` in a text, or why the text cannot be edited.

        A date that has all parts of the gold date is replaced; parts that the gold date lacks stay.
        """
        edits: list[Edit] = []
        for start, end, date in _dates_in(text):
            if date is None or not self._is_stated_by(date):
                if self._may_be(date, text[start:end]):
                    return Drop("ambiguous_value", f"{text[start:end]} may be the same date")
                continue
            new_parts = _edits_of_parts(text[start:end], value)
            if new_parts is None or not _exists(tuple(n or d for n, d in zip(value, date, strict=True))):
                return Drop("other_form", f"no other date fits {text[start:end]}")
            if _is_in_range(text, start, end):
                return Drop("ambiguous_value", f"{text[start:end]} is an end of a range")
            edits += [Edit(start + each.start, start + each.end, each.text) for each in new_parts]
        return tuple(edits)

    def gold_is_in(self, text: str) -> bool:
        """Return whether the gold date is in ``text``."""
        return any(contains(text, alias) for alias in self.aliases) or self.value_is_in(text, self.date)

    def value_is_in(self, text: str, value: Date) -> bool:
        """Return whether a date with all parts of ``value`` is in ``text``."""
        other = DateAnswer((), value)
        return any(date is not None and other._is_stated_by(date) for _, _, date in _dates_in(text))

    def _is_stated_by(self, date: Date) -> bool:
        return all(gold_part in (0, part) for gold_part, part in zip(self.date, date, strict=True))

    def _may_be(self, date: Date | None, text: str) -> bool:
        """Return whether a text may mean the gold date: a date without a year, or numbers in an ambiguous order."""
        if date is not None:
            return bool(self.date[0] and self.date[2]) and date == (0, *self.date[1:])
        numbers = {int(number) for number in re.findall(r"\d+", same_length(text))}
        return {part for part in self.date if part} <= numbers


def date_answer(aliases: tuple[str, ...]) -> DateAnswer | None:
    """Return the slot as a date; None if its aliases state no date or different dates, or contain much other text."""
    dates_of_aliases = [(alias, _dates_in(alias)) for alias in aliases]
    distinct = {date for _, dates in dates_of_aliases for _, _, date in dates}
    if len(distinct) != 1 or not all(_is_plain(alias, dates) for alias, dates in dates_of_aliases):
        return None
    date = distinct.pop()
    return None if date is None else DateAnswer(aliases, date)


def _is_plain(alias: str, dates: tuple[tuple[int, int, Date | None], ...]) -> bool:
    """Return whether an alias is one date and little else, and not a name that contains a year."""
    return len(dates) == 1 and not is_wordy(alias, [dates[0][:2]]) and not in_name(alias, dates[0][0])


def _on_same_weekday(old: Date, new: Date) -> Date:
    """Return the nearest date in the same month that has the weekday of the old one; a passage may name the weekday."""
    try:
        weekday, (year, month, day) = datetime.date(*old).weekday(), new
    except ValueError:  # 31 April
        return new
    first = next(at for at in range(1, 8) if datetime.date(year, month, at).weekday() == weekday)
    days = [at for at in range(first, monthrange(year, month)[1] + 1, 7) if at != old[2]]
    return year, month, min(days, key=lambda at: abs(at - day))


def _is_in_range(text: str, start: int, end: int) -> bool:
    return _TO_NEXT.match(text, end) is not None or _FROM_LAST.search(text[max(0, start - 24) : start]) is not None


@lru_cache(maxsize=512)
def _dates_in(text: str) -> tuple[tuple[int, int, Date | None], ...]:
    """Return start, end and value of each date in a text; a bare number from 1000 to 2099 is a year."""
    dates = list(located_dates(same_length(text)))
    for number in written_numbers(text):
        is_in_date = any(start < number.end and number.start < end for start, end, _ in dates)
        if not is_in_date and number.quantity.unit == "" and _YEAR.fullmatch(same_length(number.digits)):
            dates.append((number.start, number.start + len(number.digits), (int(number.plain), 0, 0)))
    return tuple(sorted(dates))


def _edits_of_parts(text: str, date: Date) -> list[Edit] | None:
    """Return the edits of the parts of one date; None if the format of a part cannot be matched."""
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
    """Return the name of a month, abbreviated and capitalised like the old name."""
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
