"""Times of day as answers. A value is minutes after midnight."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from pytest_rageval.generation.abilities.answer import Kind
from pytest_rageval.generation.abilities.edit import Drop, Edit, all_edited, is_wordy, same_length
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.text.dates import located_times

__all__ = ["TimeAnswer", "time_answer"]

_NOON, _DAY = 12 * 60, 24 * 60
_STEPS = (30, 15, 10, 5, 1)
_NEAREST, _FURTHEST = 60, 240
_PARTS = re.compile(r"(?P<hour>\d{1,2})(?P<mark>[:点时])?(?P<minute>\d{1,2})?")
_HALF = re.compile("上午|下午|凌晨|晚上|中午|早上|[ap]\\.?m", re.IGNORECASE)
_RANGE = re.compile(r"[-–—~～至到]\s?\d")


@dataclass(frozen=True, slots=True)
class TimeAnswer:
    """A gold slot whose aliases state one time of day.

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
        """Yield the times one to four hours away in the same half of the day or the next, as round as the gold time."""
        step = next(step for step in _STEPS if self.minutes % step == 0)
        first, last = max(0, self.minutes - _FURTHEST), min(_DAY - step, self.minutes + _FURTHEST)
        others = [each for each in range(first, last + 1) if each % step == 0 and abs(each - self.minutes) >= _NEAREST]
        yield from random.sample(others, len(others))

    def value_of(self, text: str) -> int | None:
        """Return the one time of ``text``."""
        found = _found(text)
        return found[0][2] if len(found) == 1 else None

    def fakes(self, value: int) -> tuple[str, ...]:
        """Return the aliases with another time, each in its format."""
        return all_edited(self.aliases, lambda alias: self.edits(alias, value))

    def edits(self, text: str, value: int) -> tuple[Edit, ...] | Drop:
        """Return the edits of the times that are equal to the gold one."""
        edits: list[Edit] = []
        for start, end, minutes in _found(text):
            if minutes == self.minutes:
                written = _written(text[start:end], self.minutes, value)
                if written is None:
                    return Drop("other_form", f"the time cannot be written like {text[start:end]}")
                edits += [Edit(start + each.start, start + each.end, each.text) for each in written]
        return tuple(edits)

    def left_in(self, text: str) -> bool:
        """Return whether the gold time is in ``text``."""
        return any(contains(text, alias) for alias in self.aliases) or self.states(text, self.minutes)

    def states(self, text: str, value: int) -> bool:
        """Return whether a time, or the same one twelve hours apart, is in ``text``."""
        return any(minutes % _NOON == value % _NOON for _, _, minutes in _found(text))


def time_answer(aliases: tuple[str, ...]) -> TimeAnswer | None:
    """Return the slot as a time of day; None if an alias states none, another one, or much else."""
    found = [(alias, _found(alias)) for alias in aliases]
    times = {minutes for _, each in found for _, _, minutes in each}
    if len(times) != 1 or any(len(each) != 1 or is_wordy(alias, [span[:2] for span in each]) for alias, each in found):
        return None
    return TimeAnswer(aliases, times.pop())


@lru_cache(maxsize=512)
def _found(text: str) -> tuple[tuple[int, int, int], ...]:
    narrow = same_length(text)
    return tuple(each for each in located_times(narrow))


def _written(text: str, old: int, new: int) -> list[Edit] | None:
    """Return the edits of hour and minute of one written time; None if its form has no such time."""
    match = _PARTS.search(same_length(text))
    if match is None:
        return None
    half = _HALF.search(text)
    if half and (old < _NOON) != (new < _NOON):
        return None
    hour, minute = divmod(new, 60)
    if half and int(match["hour"]) <= 12:
        hour = hour % 12 or 12
    written = str(hour).zfill(2 if match["hour"][0] == "0" and len(match["hour"]) == 2 else 1)
    edits = [Edit(*match.span("hour"), written)]
    if match["minute"]:
        edits.append(Edit(*match.span("minute"), str(minute).zfill(2)))
    elif minute != old % 60:
        return None
    return edits
