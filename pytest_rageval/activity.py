"""Show on standard error what a command is doing, if it takes longer than a second.

Code reports its work with `doing` and `progress`. Only inside `show_activity`, which runs a command, this is shown.
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

__all__ = ["Activity", "Stage", "doing", "hide", "progress", "show_activity"]

DELAY = 1.0
"""Seconds without output before anything is shown."""

SPACING = 3.0
"""Minimum number of seconds between two lines, if the stream is not a terminal."""

TICK = 0.2
"""Seconds between two updates of the line."""

MARGIN = 4
"""Number of empty columns at the right of a terminal, where it prints ^C."""

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Stage:
    """One step of a command's work, with its progress.

    Attributes:
        what: what the command does, such as "reading case".
        total: the number of items; 0 if unknown.
        done: the number of items that are begun or finished.
    """

    what: str
    total: int = 0
    done: int = 0

    def __str__(self) -> str:
        return f"{self.what} {self.done:,} of {self.total:,}" if self.total else self.what


class Activity:
    """Writes the current stage of a command to a stream.

    A terminal has one line that is rewritten and erased. Another stream gets one line for each stage.

    Args:
        stream: the stream, such as standard error.
        clock: returns the time in seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.stages: list[Stage] = []
        self._stream, self._clock = stream, clock
        self._lock = threading.Lock()
        self._began = self._quiet_since = clock()
        self._rewrites = stream.isatty()
        self._line_width = 0  # columns of the line on the terminal
        self._last_line: tuple[str, float] = ("", -SPACING)  # the last stage in a stream without a terminal, its time

    def tick(self) -> None:
        """Show the current stage if there was no other output for `DELAY` seconds, else erase it."""
        with self._lock:
            now, stage = self._clock(), self.stages[-1:]
            if not stage or now - self._quiet_since < DELAY:
                self._erase()
            elif self._rewrites:
                self._redraw(f"{stage[0]} · {now - self._began:.0f} s")
            elif stage[0].what != self._last_line[0] and now - self._last_line[1] >= SPACING:
                self._last_line = (stage[0].what, now)
                self._write(f"rageval: {ascii_safe(str(stage[0]))}\n")

    def erase(self) -> None:
        """Erase the line because other output follows; the line returns after `DELAY` seconds without output."""
        with self._lock:
            self._quiet_since = self._clock()
            self._erase()

    def _redraw(self, text: str) -> None:
        line = _cut(ascii_safe(text), shutil.get_terminal_size().columns - MARGIN)
        width = _width(line)
        self._write(f"\r{line}{' ' * (self._line_width - width)}")
        self._line_width = width

    def _erase(self) -> None:
        if self._line_width:
            self._write(f"\r{' ' * (self._line_width + MARGIN - 1)}\r")
            self._line_width = 0

    def _write(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        with suppress(OSError, ValueError):  # a closed stream must not end the command
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()


_current: Activity | None = None


@contextmanager
def show_activity(stream: TextIO) -> Iterator[None]:
    """Show on the stream what the ``with`` block does; erase it at the end."""
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
    """Erase the line of the running command, because other output follows."""
    if _current is not None:
        _current.erase()


@contextmanager
def doing(what: str, total: int = 0) -> Iterator[Stage]:
    """Report that the ``with`` block does ``what``, such as "reading the run"; see `show_activity`."""
    stage, stages = Stage(what, total), [] if _current is None else _current.stages
    stages.append(stage)
    try:
        yield stage
    finally:
        stages.remove(stage)


def progress(what: str, items: Collection[T]) -> Iterator[T]:
    """Yield the items, and report how many were yielded: "reading case 3 of 40"."""
    with doing(what, len(items)) as stage:
        for stage.done, item in enumerate(items, 1):
            yield item


def _width(text: str) -> int:
    """Return the number of terminal columns of a text; Chinese characters take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _cut(text: str, columns: int) -> str:
    while _width(text) > max(columns, 0):
        text = text[:-1]
    return text
