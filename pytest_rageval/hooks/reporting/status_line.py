"""A line below pytest's own progress that tells how the session stands, where somebody watches it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.terminal import TerminalReporter

from pytest_rageval.hooks.collect.keys import COLLECTED
from pytest_rageval.hooks.config.process import WATCHED
from pytest_rageval.hooks.config.progress_bar import watched_terminal
from pytest_rageval.hooks.reporting.keys import RECORDER

if TYPE_CHECKING:
    from pytest_rageval.report.terminal.status_line import Progress, UnderWay

__all__ = ["Screen", "StatusLine", "is_watched"]

AFTER = 1.0
"""Seconds that a session may take without it."""

RATE, BURST = 10.0, 50.0
"""Times a second that the line is told anew, and how many more at once where it was not for a while.

Answers that were awaited together end together: the line that stands while the next are awaited has all of them.
"""


def is_watched(config: pytest.Config) -> bool:
    """Return whether somebody watches, wants to be told, and pytest alone writes to a terminal that draws."""
    if type(watched_terminal(config)) is not TerminalReporter:
        return False
    if os.name == "nt" and not os.environ.get("WT_SESSION"):  # a console may write the signs that draw as they are
        return False
    debugs = any(getattr(config.option, name, False) for name in ("usepdb", "trace"))
    return getattr(config.option, "capture", "no") == "fd" and not debugs


class Screen:
    """The stream of a terminal, with a line under the one that is written; it goes with that one as it ends.

    It is made while nothing is captured, and keeps the terminal: the line is drawn there also while a test runs.

    Args:
        writer: pytest's, which knows what it has written of the present line.
        capture: pytest's capture manager; while it lets others write to the terminal there is no line.

    Raises:
        OSError: the stream is of no file.
    """

    def __init__(self, writer: Any, capture: Any) -> None:
        self.is_shown = False
        self._parts: Sequence[str] = ()
        self._lent_to = 0
        self._lock = threading.RLock()  # others may write from any thread
        self._writer = writer
        self._stream = writer._file
        self._terminal = os.fdopen(os.dup(self._stream.fileno()), "wb", buffering=0)
        writer._file = self
        self._capture = capture
        self._uncaptured = capture.global_and_fixture_disabled
        capture.global_and_fixture_disabled = self._lent

    def write(self, text: str) -> int:
        with self._lock:
            if self.is_shown and ("\n" in text or "\r" in text or not 0 <= self._column() < self._columns()):
                self._stream.write(f"\x1b[J{text}{self._drawn()}")  # at once, so that nobody sees it go
                return len(text)
            return int(self._stream.write(text))

    def show(self, parts: Sequence[str]) -> None:
        """Show a line, or another in its place; nothing where the one above is full to the edge, or others write."""
        with self._lock:
            self._parts = parts
            if not self._lent_to:
                self._put("\x1b[J" * self.is_shown + self._drawn())

    def erase(self) -> None:
        """Leave no line."""
        if self.is_shown:
            self.is_shown = False
            self._put("\x1b[J")

    def close(self) -> None:
        """Leave the stream and the capture manager as they were."""
        self._parts = ()
        if self._writer._file is self:
            self._writer._file = self._stream
        vars(self._capture).pop("global_and_fixture_disabled", None)
        self._terminal.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _put(self, text: str) -> None:
        self._terminal.write(text.encode(getattr(self._stream, "encoding", None) or "utf-8"))

    def _drawn(self) -> str:
        """Return what draws the line, and goes back to where others have written to, wherever that is."""
        from pytest_rageval.report.terminal.status_line import fit_parts

        columns, column = self._columns(), self._column()
        self.is_shown = not column or column % columns != 0
        line = fit_parts(self._parts, columns - 1, getattr(self._stream, "encoding", None))
        return f"\x1bD\x1b[A\x1b7\x1b[B\r{line}\x1b8" * self.is_shown

    @contextmanager
    def _lent(self) -> Generator[None]:
        """Do what the capture manager does for those who write past it, with no line in their way."""
        with self._uncaptured():
            with self._lock:
                self._lent_to += 1
                self.erase()
            try:
                yield
            finally:
                with self._lock:
                    self._lent_to -= 1
                    if self._parts and not self._lent_to:
                        self._stream.flush()  # what they have written stands above
                        self.show(self._parts)

    def _columns(self) -> int:
        """Return how wide the terminal is now, which may not know it; pytest takes a narrow one for a common one."""
        try:
            columns = os.get_terminal_size(self._terminal.fileno()).columns
        except OSError:
            columns = 0
        return columns or int(self._writer.fullwidth)

    def _column(self) -> int:
        """Return how many columns of the present line pytest has written, -1 if that cannot be told."""
        from wcwidth import wcswidth

        return int(wcswidth(self._writer._current_line.rpartition("\r")[2]))


class StatusLine:
    """A plugin of the main process (with xdist: of the controller), where somebody watches."""

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        self._writer = reporter._tw
        self._config = config
        self._screen: Screen | None = None
        self._progress: Progress | None = None
        self._under_way: dict[str, UnderWay] = {}
        self._began: float | None = None
        self._allowed, self._asked = BURST, 0.0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Have a worker tell what it has under way."""
        node.workerinput[WATCHED] = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Keep of a worker that has ended or crashed what it has cost."""
        from pytest_rageval.report.terminal.status_line import UnderWay

        cost = self._under_way.get(node.gateway.id, UnderWay()).cost
        self._under_way[node.gateway.id] = UnderWay(cost=cost)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Have the line gone, however the tests end."""
        if not session.config.option.collectonly:
            with self._cosmetic():
                self._screen = Screen(self._writer, self._config.pluginmanager.getplugin("capturemanager"))
        try:
            return (yield)
        finally:
            self._end()

    def pytest_enter_pdb(self) -> None:
        """Leave the terminal to the debugger."""
        self._end()

    def pytest_runtest_logstart(self) -> None:
        """Note when the first test begins."""
        if self._began is None:
            self._began = time.monotonic()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Count what a report brings, once the recorder has it, and draw the line."""
        payload: dict[str, Any] | None = getattr(report, "rag", None)
        recorder = self._config.stash.get(RECORDER, None)
        earlier = None if recorder is None else recorder.run.outcomes.get(report.nodeid)
        yield
        with self._cosmetic():
            progress = self._stood()
            recorder = self._config.stash.get(RECORDER, None)
            outcome = None if recorder is None else recorder.run.outcomes.get(report.nodeid)
            if progress is not None and outcome is not None and payload is not None:
                self._note(getattr(report, "worker_id", ""), payload)
                progress.take(outcome, earlier)
            if report.when != "setup" or payload is not None:  # an answer that a test has taken is told by its outcome
                self._draw()

    def tick(self) -> None:
        """Draw the line while a test waits for its answer; only the thread of the tests ever writes to the terminal."""
        if self._screen is not None and threading.current_thread() is threading.main_thread():
            with self._cosmetic():
                self._draw()

    def _stood(self) -> Progress | None:
        """Return how the session stands; None as long as there is no case."""
        recorder = self._config.stash.get(RECORDER, None)
        if self._progress is None and recorder is not None and recorder.run.plan.cases:
            from pytest_rageval.report.terminal.status_line import Progress

            self._progress = Progress(recorder.run.plan)
        return self._progress

    def _note(self, worker: str, payload: dict[str, Any]) -> None:
        from pytest_rageval.report.terminal.status_line import UnderWay

        self._under_way[worker] = UnderWay(*(payload.get("under_way") or ()))

    def _draw(self) -> None:
        now, progress = time.monotonic(), self._stood()
        if self._screen is None or progress is None or self._began is None or now - self._began < AFTER:
            return
        from pytest_rageval.report.terminal.status_line import in_all

        self._allowed = min(BURST, self._allowed + (now - self._asked) * RATE)
        self._asked = now
        if self._allowed < 1:
            return
        self._allowed -= 1
        if COLLECTED in self._config.stash:
            self._note("", {"under_way": self._config.stash[COLLECTED].under_way})
        self._screen.show(progress.parts(now - self._began, in_all(self._under_way.values())))

    @contextmanager
    def _cosmetic(self) -> Generator[None]:
        """End the line, and not the session, where it cannot be drawn."""
        try:
            yield
        except OSError:  # nobody watches any more
            self._end()
        except Exception as error:
            self._end()
            if RECORDER in self._config.stash:
                told = f"the line that told how the session stands has ended: {type(error).__name__}: {error}"
                self._config.stash[RECORDER].take_fault(told)

    def _end(self) -> None:
        screen, self._screen = self._screen, None
        if screen is not None:
            try:
                screen.erase()
            except (OSError, ValueError):
                return
            finally:
                screen.close()
