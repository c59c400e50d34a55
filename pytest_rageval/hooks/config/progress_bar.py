"""A line in the terminal that tells how far long work has come."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any, TypeVar

import pytest

from pytest_rageval.hooks.config.process import is_worker
from pytest_rageval.retrieval.build_context import Watch, unwatched

__all__ = ["Progress", "in_terminal", "on_stderr", "watched_terminal"]

T = TypeVar("T")

AFTER = 2.0
"""Seconds that a work may take unseen."""

EVERY = 0.2
"""Seconds between two lines."""

STRIDE = 64
"""Items between two looks at the clock."""


class Progress:
    """A `Watch` that shows a line, rewritten in place and erased at the end, of work that takes more than `AFTER`.

    Args:
        show: puts a line in the place of the one before; "" leaves none.
    """

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show

    def __call__(self, items: Iterable[T], doing: str, /) -> Iterator[T]:
        due, shown = time.monotonic() + AFTER, False
        try:
            for count, item in enumerate(items):
                if count % STRIDE == 0 and time.monotonic() >= due:
                    due, shown = time.monotonic() + EVERY, True
                    self._show(f"rag: {doing} ... {count:,} passages")
                yield item
        finally:
            if shown:
                self._show("")


def watched_terminal(config: pytest.Config) -> Any:
    """Return pytest's reporter where somebody watches what it writes and wants to be told, else None.

    Nobody does in a worker, in CI by the variables that pytest goes by, on a dumb terminal and under ``-q``.
    """
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or is_worker(config) or config.get_verbosity() < 0 or not reporter.isatty:
        return None
    if any(os.environ.get(name) for name in ("CI", "BUILD_NUMBER")):
        return None
    dumb = os.environ.get("TERM", "dumb" if os.name == "posix" else "") == "dumb"
    return None if dumb else reporter


def in_terminal(config: pytest.Config) -> Watch:
    """Return what shows progress where pytest reports to, if somebody watches."""
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
    """Return what shows progress on the terminal of a command, or nothing where there is none."""
    if not sys.stderr.isatty():
        return unwatched

    def show(line: str) -> None:
        sys.stderr.write(f"\r\033[K{line}")
        sys.stderr.flush()

    return Progress(show)
