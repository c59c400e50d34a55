"""Show the progress of long work over passages on one line of the terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any, TypeVar

import pytest

from pytest_rageval.hooks.config.process import is_worker
from pytest_rageval.retrieval.retriever_parts import Watch, unwatched

__all__ = ["Progress", "in_terminal", "on_stderr", "watched_terminal"]

T = TypeVar("T")

DELAY_S = 2.0
"""Seconds before the first line."""

INTERVAL_S = 0.2
"""Seconds between updates of the line."""

STRIDE = 64
"""Items between two checks of the clock."""


class Progress:
    """A `Watch` that shows a line, updated in place and erased at the end, for work longer than `DELAY_S` seconds.

    Args:
        show: replaces the line in the terminal; "" erases it.
    """

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show

    def __call__(self, items: Iterable[T], task: str, /) -> Iterator[T]:
        due, is_visible = time.monotonic() + DELAY_S, False
        try:
            for count, item in enumerate(items):
                if count % STRIDE == 0 and time.monotonic() >= due:
                    due, is_visible = time.monotonic() + INTERVAL_S, True
                    self._show(f"rag: {task} ... {count:,} passages")
                yield item
        finally:
            if is_visible:
                self._show("")


def watched_terminal(config: pytest.Config) -> Any:
    """Return pytest's terminal reporter if a user watches the terminal, else None.

    Return None in a worker, in CI (detected by the same variables as in pytest), on a dumb terminal and with ``-q``.
    """
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or is_worker(config) or config.get_verbosity() < 0 or not reporter.isatty:
        return None
    if any(os.environ.get(name) for name in ("CI", "BUILD_NUMBER")):
        return None
    is_dumb = os.environ.get("TERM", "dumb" if os.name == "posix" else "") == "dumb"
    return None if is_dumb else reporter


def in_terminal(config: pytest.Config) -> Watch:
    """Return the progress line on pytest's terminal, or `unwatched` if no user watches."""
    reporter = watched_terminal(config)
    if reporter is None:
        return unwatched
    capture: Any = config.pluginmanager.getplugin("capturemanager")

    def show(line: str) -> None:
        with capture.global_and_fixture_disabled() if capture else nullcontext():
            reporter.ensure_newline()
            reporter.rewrite(line, erase=True)
            reporter.flush()

    return Progress(show)


def on_stderr() -> Watch:
    """Return the progress line on a command's stderr, or `unwatched` without a terminal."""
    if not sys.stderr.isatty():
        return unwatched

    def show(line: str) -> None:
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()

    return Progress(show)
