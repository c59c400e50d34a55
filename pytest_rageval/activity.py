"""Show on standard error what a command is doing, once it has worked for a second.

Code says what it does by `doing` and `progress`; it is shown while a command runs in `shown`, and nowhere else.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TextIO, TypeVar
from unicodedata import east_asian_width

from pytest_rageval.errors import ascii_safe

__all__ = ["Activity", "Stage", "doing", "hide", "progress", "shown"]

DELAY = 1.0
"""Seconds without output before anything is shown."""

SPACING = 3.0
"""Least number of seconds between two lines, if the stream is not a terminal."""

TICK = 0.2
MARGIN = 4  # columns that stay free on the right: a terminal prints ^C there

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Stage:
    """One thing that a command does: ``what``, and how much of it is done; a ``total`` of 0 is unknown."""

    what: str
    total: int = 0
    done: int = 0

    def __str__(self) -> str:
        return f"{self.what} {self.done:,} of {self.total:,}" if self.total else self.what


class Activity:
    """The stages of a command, and what of them is on the stream.

    On a terminal it is one line that is rewritten and erased; elsewhere one line for each stage.

    Args:
        stream: where it is shown.
        clock: returns seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.stages: list[Stage] = []
        self._stream, self._clock = stream, clock
        self._lock = threading.Lock()
        self._began = self._quiet_since = clock()
        self._rewrites = stream.isatty()
        self._drawn = 0  # columns of the line on the terminal
        self._written: tuple[str, float] = ("", -SPACING)  # the last stage off a terminal, and when

    def tick(self) -> None:
        """Show the current stage, if it is time to."""
        with self._lock:
            now, stage = self._clock(), self.stages[-1:]
            if not stage or now - self._quiet_since < DELAY:
                self._erase()
            elif self._rewrites:
                self._redraw(f"{stage[0]} · {now - self._began:.0f} s")
            elif stage[0].what != self._written[0] and now - self._written[1] >= SPACING:
                self._written = (stage[0].what, now)
                self._write(f"rageval: {ascii_safe(str(stage[0]))}\n")

    def erase(self) -> None:
        """Erase the line, because other output follows; it comes back after a second without output."""
        with self._lock:
            self._quiet_since = self._clock()
            self._erase()

    def _redraw(self, text: str) -> None:
        line = _cut(ascii_safe(text), shutil.get_terminal_size().columns - MARGIN)
        width = _width(line)
        self._write(f"\r{line}{' ' * (self._drawn - width)}")
        self._drawn = width

    def _erase(self) -> None:
        if self._drawn:
            self._write(f"\r{' ' * (self._drawn + MARGIN - 1)}\r")
            self._drawn = 0

    def _write(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        with suppress(OSError, ValueError):  # a closed stream must not end the command
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()


_current: Activity | None = None


@contextmanager
def shown(stream: TextIO) -> Iterator[None]:
    """Show on the stream what the code inside does; at the end the terminal is as before."""
    global _current
    before, activity, ended = _current, Activity(stream), threading.Event()

    def watch() -> None:
        while not ended.wait(TICK):
            activity.tick()

    watcher = threading.Thread(target=watch, name="rageval-activity", daemon=True)
    _current = activity
    watcher.start()
    try:
        yield
    finally:
        _current = before
        ended.set()
        watcher.join()
        activity.erase()


def hide() -> None:
    """Erase what is shown, because other output follows."""
    if _current is not None:
        _current.erase()


@contextmanager
def doing(what: str, total: int = 0) -> Iterator[Stage]:
    """Say that the code inside does ``what``, such as "reading the run"; outside of `shown` it does nothing."""
    stage, stages = Stage(what, total), [] if _current is None else _current.stages
    stages.append(stage)
    try:
        yield stage
    finally:
        stages.remove(stage)


def progress(what: str, items: Collection[T]) -> Iterator[T]:
    """Yield the items, and say how many of them are done: "reading case 3 of 40"."""
    with doing(what, len(items)) as stage:
        for stage.done, item in enumerate(items, 1):
            yield item


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _cut(text: str, columns: int) -> str:
    while _width(text) > max(columns, 0):
        text = text[:-1]
    return text
