"""Show a status line of the session below pytest's progress, on a watched terminal."""

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
    from pytest_rageval.report.terminal.status_line import PendingWork, Progress

__all__ = ["Screen", "StatusLine", "is_watched"]

DELAY_S = 1.0
"""Seconds before the line first appears."""

RATE, BURST = 10.0, 50.0
"""Redraws per second, and extra redraws in a burst after a pause.

Answers that were awaited together end together: the burst lets the line include all of them.
"""


def is_watched(config: pytest.Config) -> bool:
    """Return whether to show the line: a user watches the terminal, and only pytest writes to it."""
    if type(watched_terminal(config)) is not TerminalReporter:
        return False
    if os.name == "nt" and not os.environ.get("WT_SESSION"):  # an old console may print the escape sequences literally
        return False
    debugs = any(getattr(config.option, name, False) for name in ("usepdb", "trace"))
    return getattr(config.option, "capture", "no") == "fd" and not debugs


class Screen:
    """A terminal stream with a status line below the current line; the status line moves down with it.

    Create it while nothing is captured: it duplicates the terminal's descriptor, to draw also while a test runs.

    Args:
        writer: pytest's terminal writer, which knows its current line.
        capture: pytest's capture manager; while it lets others write to the terminal, the line is hidden.

    Raises:
        OSError: the stream has no file descriptor.
    """

    def __init__(self, writer: Any, capture: Any) -> None:
        self.is_shown = False
        self._parts: Sequence[str] = ()
        self._lent_to = 0  # number of others that may now write to the terminal
        self._lock = threading.RLock()  # output may come from any thread
        self._writer = writer
        self._stream = writer._file
        self._terminal = os.fdopen(os.dup(self._stream.fileno()), "wb", buffering=0)
        writer._file = self
        self._capture = capture
        self._uncaptured = capture.global_and_fixture_disabled
        capture.global_and_fixture_disabled = self._lend

    def write(self, text: str) -> int:
        with self._lock:
            if self.is_shown and ("\n" in text or "\r" in text or not 0 <= self._column() < self._columns()):
                self._stream.write(f"\x1b[J{text}{self._line_text()}")  # in one write, to avoid flicker
                return len(text)
            return int(self._stream.write(text))

    def show(self, parts: Sequence[str]) -> None:
        """Show or replace the line; hide it if the line above is full, or while others write."""
        with self._lock:
            self._parts = parts
            if not self._lent_to:
                self._put("\x1b[J" * self.is_shown + self._line_text())

    def erase(self) -> None:
        """Remove the line."""
        if self.is_shown:
            self.is_shown = False
            self._put("\x1b[J")

    def close(self) -> None:
        """Restore the stream and the capture manager."""
        self._parts = ()
        if self._writer._file is self:
            self._writer._file = self._stream
        vars(self._capture).pop("global_and_fixture_disabled", None)
        self._terminal.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _put(self, text: str) -> None:
        self._terminal.write(text.encode(getattr(self._stream, "encoding", None) or "utf-8"))

    def _line_text(self) -> str:
        """Return the escape sequence that draws the line and restores the cursor."""
        from pytest_rageval.report.terminal.status_line import fit_parts

        columns, column = self._columns(), self._column()
        self.is_shown = not column or column % columns != 0
        line = fit_parts(self._parts, columns - 1, getattr(self._stream, "encoding", None))
        return f"\x1bD\x1b[A\x1b7\x1b[B\r{line}\x1b8" * self.is_shown

    @contextmanager
    def _lend(self) -> Generator[None]:
        """Suspend capturing, as the capture manager does, and hide the line meanwhile."""
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
                        self._stream.flush()  # print their output above the line
                        self.show(self._parts)

    def _columns(self) -> int:
        """Return the terminal's current width; if unknown, pytest's, which replaces narrow widths by 80."""
        try:
            columns = os.get_terminal_size(self._terminal.fileno()).columns
        except OSError:
            columns = 0
        return columns or int(self._writer.fullwidth)

    def _column(self) -> int:
        """Return the columns that pytest has written in the current line, -1 if unknown."""
        from wcwidth import wcswidth

        return int(wcswidth(self._writer._current_line.rpartition("\r")[2]))


class StatusLine:
    """Plugin of the main process (with xdist: the controller) on a watched terminal."""

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        self._writer = reporter._tw
        self._config = config
        self._screen: Screen | None = None
        self._progress: Progress | None = None
        self._under_way: dict[str, PendingWork] = {}
        self._began: float | None = None
        self._allowed, self._last_draw = BURST, 0.0  # redraws that are allowed now, and time of the last one

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Ask a worker to report its calls in progress."""
        node.workerinput[WATCHED] = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Keep only the cost of a worker that has ended or crashed."""
        from pytest_rageval.report.terminal.status_line import PendingWork

        cost = self._under_way.get(node.gateway.id, PendingWork()).cost
        self._under_way[node.gateway.id] = PendingWork(cost=cost)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Draw the line during the tests; remove it however they end."""
        if not session.config.option.collectonly:
            with self._end_on_error():
                self._screen = Screen(self._writer, self._config.pluginmanager.getplugin("capturemanager"))
        try:
            return (yield)
        finally:
            self._end()

    def pytest_enter_pdb(self) -> None:
        """Leave the terminal to the debugger."""
        self._end()

    def pytest_runtest_logstart(self) -> None:
        """Store when the first test begins."""
        if self._began is None:
            self._began = time.monotonic()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Count a report after the recorder has taken it, and draw the line."""
        payload: dict[str, Any] | None = getattr(report, "rag", None)
        recorder = self._config.stash.get(RECORDER, None)
        earlier = None if recorder is None else recorder.run.outcomes.get(report.nodeid)
        yield
        with self._end_on_error():
            progress = self._current_progress()
            recorder = self._config.stash.get(RECORDER, None)
            outcome = None if recorder is None else recorder.run.outcomes.get(report.nodeid)
            if progress is not None and outcome is not None and payload is not None:
                self._note(getattr(report, "worker_id", ""), payload)
                progress.take(outcome, earlier)
            if report.when != "setup" or payload is not None:  # a setup report without outcome changes nothing
                self._draw()

    def tick(self) -> None:
        """Draw the line while a test waits for its answer; only the main thread writes to the terminal."""
        if self._screen is not None and threading.current_thread() is threading.main_thread():
            with self._end_on_error():
                self._draw()

    def _current_progress(self) -> Progress | None:
        """Return the session's progress; None before the first case."""
        recorder = self._config.stash.get(RECORDER, None)
        if self._progress is None and recorder is not None and recorder.run.plan.cases:
            from pytest_rageval.report.terminal.status_line import Progress

            self._progress = Progress(recorder.run.plan)
        return self._progress

    def _note(self, worker: str, payload: dict[str, Any]) -> None:
        """Store the calls in progress of a worker; "" is this process."""
        from pytest_rageval.report.terminal.status_line import PendingWork

        self._under_way[worker] = PendingWork(*(payload.get("under_way") or ()))

    def _draw(self) -> None:
        """Draw the line, at most `RATE` times per second except in a burst."""
        now, progress = time.monotonic(), self._current_progress()
        if self._screen is None or progress is None or self._began is None or now - self._began < DELAY_S:
            return
        from pytest_rageval.report.terminal.status_line import sum_pending

        self._allowed = min(BURST, self._allowed + (now - self._last_draw) * RATE)
        self._last_draw = now
        if self._allowed < 1:
            return
        self._allowed -= 1
        if COLLECTED in self._config.stash:
            self._note("", {"under_way": self._config.stash[COLLECTED].under_way})
        self._screen.show(progress.parts(now - self._began, sum_pending(self._under_way.values())))

    @contextmanager
    def _end_on_error(self) -> Generator[None]:
        """If the line cannot be drawn, end the line and not the session."""
        try:
            yield
        except OSError:  # the terminal is closed
            self._end()
        except Exception as error:
            self._end()
            if RECORDER in self._config.stash:
                fault = f"the status line has ended: {type(error).__name__}: {error}"
                self._config.stash[RECORDER].take_fault(fault)

    def _end(self) -> None:
        screen, self._screen = self._screen, None
        if screen is not None:
            try:
                screen.erase()
            except (OSError, ValueError):
                return
            finally:
                screen.close()
