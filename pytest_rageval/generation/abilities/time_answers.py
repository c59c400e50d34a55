"""Times of day as gold answers; a value is the minutes after midnight."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from pytest_rageval.generation.abilities.answer import Kind
from pytest_rageval.generation.abilities.edit import Drop, Edit, edit_all, is_wordy, same_length
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.text.dates import located_times

__all__ = ["TimeAnswer", "time_answer"]

_NOON, _DAY = 12 * 60, 24 * 60
_ROUND_MINUTES = (30, 15, 10, 5, 1)
"""Steps in minutes; a false time has the largest step that divides the gold time."""

_MIN_DISTANCE, _MAX_DISTANCE = 60, 240
"""Distance of a false time from the gold time in minutes."""

_PARTS = re.compile(r"(?P<hour>\d{1,2})(?P<mark>[:点时])?(?P<minute>\d{1,2})?")
_HALF = re.compile("上午|下午|凌晨|晚上|中午|早上|[ap]\\.?m", re.IGNORECASE)
_RANGE = re.compile(r"[-–—~～至到]\s?\d")


@dataclass(frozen=True, slots=True)
class TimeAnswer:
    """A gold slot whose aliases state the same time of day.

    Attributes:
        aliases: the aliases of the slot.
        minutes: the time, in minutes after midnight.
    """

    aliases: tuple[str, ...]
    minutes: int

    @property
    def kind(self) -> Kind:
        """Always ``time``."""
        return "time"

    def others(self, random: Random) -> Iterator[int]:
        """Yield times of the same day that are one to four hours away and as round as the gold time."""
        step = next(step for step in _ROUND_MINUTES if self.minutes % step == 0)
        first, last = max(0, self.minutes - _MAX_DISTANCE), min(_DAY - step, self.minutes + _MAX_DISTANCE)
        others = [
            each for each in range(first, last + 1) if each % step == 0 and abs(each - self.minutes) >= _MIN_DISTANCE
        ]
        yield from random.sample(others, len(others))

    def value_of(self, text: str) -> int | None:
        """Return the time of ``text``; None if it has no time or several."""
        times = _times_in(text)
        return times[0][2] if len(times) == 1 else None

    def fakes(self, value: int) -> tuple[str, ...]:
        """Return the aliases with another time, each in its own format."""
        return edit_all(self.aliases, lambda alias: self.edits(alias, value))

    def edits(self, text: str, value: int) -> tuple[Edit, ...] | Drop:
        """Return edits that replace each mention of the gold time by ``value``, or why one cannot be edited."""
        edits: list[Edit] = []
        for start, end, minutes in _times_in(text):
            if minutes == self.minutes:
                new_parts = _edits_of_parts(text[start:end], self.minutes, value)
                if new_parts is None:
                    return Drop("other_form", f"the time cannot be written like {text[start:end]}")
                edits += [Edit(start + each.start, start + each.end, each.text) for each in new_parts]
        return tuple(edits)

    def gold_is_in(self, text: str) -> bool:
        """Return whether ``text`` states the gold time."""
        return any(contains(text, alias) for alias in self.aliases) or self.value_is_in(text, self.minutes)

    def value_is_in(self, text: str, value: int) -> bool:
        """Return whether ``text`` states a time, or the time twelve hours before or after it."""
        return any(minutes % _NOON == value % _NOON for _, _, minutes in _times_in(text))


def time_answer(aliases: tuple[str, ...]) -> TimeAnswer | None:
    """Parse a slot as a time of day; None if an alias states no time, another time, or much other text."""
    times_of_aliases = [(alias, _times_in(alias)) for alias in aliases]
    times = {minutes for _, each in times_of_aliases for _, _, minutes in each}
    if len(times) != 1 or any(
        len(each) != 1 or is_wordy(alias, [span[:2] for span in each]) for alias, each in times_of_aliases
    ):
        return None
    return TimeAnswer(aliases, times.pop())


@lru_cache(maxsize=512)
def _times_in(text: str) -> tuple[tuple[int, int, int], ...]:
    narrow = same_length(text)
    return tuple(each for each in located_times(narrow))


def _edits_of_parts(text: str, old: int, new: int) -> list[Edit] | None:
    """Return edits of the hour and the minute of a written time; None if its form cannot express the new time."""
    match = _PARTS.search(same_length(text))
    if match is None:
        return None
    half = _HALF.search(text)
    if half and (old < _NOON) != (new < _NOON):
        return None
    hour, minute = divmod(new, 60)
    if half and int(match["hour"]) <= 12:
        hour = hour % 12 or 12
    hour_text = str(hour).zfill(2 if match["hour"][0] == "0" and len(match["hour"]) == 2 else 1)
    edits = [Edit(*match.span("hour"), hour_text)]
    if match["minute"]:
        edits.append(Edit(*match.span("minute"), str(minute).zfill(2)))
    elif minute != old % 60:
        return None
    return edits
