"""A line below pytest's own progress that tells how the session stands, where somebody watches it."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.terminal import TerminalReporter

from pytest_rageval.hooks.keys import RECORDER, is_worker

if TYPE_CHECKING:
    from pytest_rageval.report.standing import Standing

__all__ = ["Screen", "StatusLine", "is_watched"]

AFTER = 1.0
"""Seconds that a session may take without it."""

RATE, BURST = 10.0, 50.0
"""Times a second that the line is drawn, and how many more at once where it was not drawn for a while.

Answers that were awaited together end together: the line that stands while the next are awaited has all of them.
"""


def is_watched(config: pytest.Config) -> bool:
    """Return whether somebody watches, wants to be told, and pytest alone writes to the terminal."""
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    if is_worker(config) or type(reporter) is not TerminalReporter or not reporter.isatty:
        return False
    if os.environ.get("CI") or os.environ.get("TERM", "dumb" if os.name == "posix" else "") == "dumb":
        return False
    captures = getattr(config.option, "capture", "no") in ("fd", "sys")
    debugs = any(getattr(config.option, name, False) for name in ("usepdb", "trace"))
    return config.get_verbosity() >= 0 and captures and not debugs


class Screen:
    """The stream of a terminal, with a line under the one that is written; it goes before that one ends.

    Args:
        writer: pytest's, which knows what it has written of the present line.
    """

    def __init__(self, writer: Any) -> None:
        self.is_shown = False
        self._writer = writer
        self._stream = writer._file
        writer._file = self

    def write(self, text: str) -> int:
        if self.is_shown and ("\n" in text or "\r" in text or not 0 <= self._column() < self._columns()):
            self.erase()
        return int(self._stream.write(text))

    def show(self, line: str) -> None:
        """Show a line, or another in its place; nothing where the one above is full to the edge."""
        from pytest_rageval.report.legible import cut, legible

        columns = self._columns()
        column = self._column()
        if column < 0 or (column and column % columns == 0):
            return
        text = cut(legible(line, getattr(self._stream, "encoding", None)), columns - 1)
        right = f"\x1b[{column % columns}C" if column else ""
        self._stream.write(f"\x1b[J\n\r{text}\x1b[A\r{right}")
        self._stream.flush()
        self.is_shown = True

    def erase(self) -> None:
        """Leave no line."""
        if self.is_shown:
            self.is_shown = False
            self._stream.write("\x1b[J")
            self._stream.flush()

    def close(self) -> None:
        """Leave the stream as it was."""
        if self._writer._file is self:
            self._writer._file = self._stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _columns(self) -> int:
        """Return how wide the terminal is now, which may not know it; pytest takes a narrow one for a common one."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError, AttributeError):
            columns = 0
        return columns or int(self._writer.fullwidth)

    def _column(self) -> int:
        """Return how many columns of the present line are taken, -1 if that cannot be told."""
        from wcwidth import wcswidth

        return int(wcswidth(self._writer._current_line.rpartition("\r")[2]))


class StatusLine:
    """A plugin of the main process (with xdist: of the controller), where somebody watches."""

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        self._writer = reporter._tw
        self._config = config
        self._screen: Screen | None = None
        self._standing: Standing | None = None
        self._in_flight: dict[str, int] = {}
        self._began: float | None = None
        self._allowed, self._asked = BURST, 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Have the line gone, however the tests end."""
        if not session.config.option.collectonly:
            self._screen = Screen(self._writer)
        try:
            return (yield)
        finally:
            self._end()

    def pytest_enter_pdb(self) -> None:
        """Leave the terminal to the debugger."""
        self._end()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logstart(self) -> Generator[None]:
        """Draw the line again where a new one has begun above it."""
        if self._began is None:
            self._began = time.monotonic()
        yield
        if self._screen is not None and not self._screen.is_shown:
            self._draw()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Count what a report brings, once the recorder has it, and draw the line."""
        payload: dict[str, Any] | None = getattr(report, "rag", None)
        recorder = self._config.stash.get(RECORDER, None)
        earlier = None if recorder is None else recorder.run.outcomes.get(report.nodeid)
        yield
        recorder = self._config.stash.get(RECORDER, None)
        if recorder is None or not recorder.run.plan.cases:
            return
        if self._standing is None:
            from pytest_rageval.report.standing import Standing

            self._standing = Standing(recorder.run.plan)
        outcome = recorder.run.outcomes.get(report.nodeid)
        if outcome is not None and payload is not None:
            self._in_flight[getattr(report, "worker_id", "")] = payload["in_flight"]
            self._standing.take(outcome, earlier)
        self._draw()

    def _draw(self) -> None:
        now = time.monotonic()
        if self._screen is None or self._standing is None or self._began is None or now - self._began < AFTER:
            return
        self._allowed = min(BURST, self._allowed + (now - self._asked) * RATE)
        self._asked = now
        if self._allowed < 1:
            return
        self._allowed -= 1
        try:
            self._screen.show(self._standing.text(now - self._began, sum(self._in_flight.values())))
        except (OSError, ValueError):  # nobody watches any more
            self._end()

    def _end(self) -> None:
        screen, self._screen = self._screen, None
        if screen is not None:
            try:
                screen.erase()
            except (OSError, ValueError):
                return
            finally:
                screen.close()
