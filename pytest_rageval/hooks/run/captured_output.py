"""What a system prints and logs while it is asked ahead, kept until its own test can show it.

Pytest captures whatever is written while a test runs as that test's. This is the one place that looks into how it
captures. What is written past ``sys.stdout`` and ``sys.stderr``, to their files, cannot be told apart.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

import pytest
from _pytest.capture import CaptureIO, EncodedFile, TeeCaptureIO

__all__ = ["Kept", "Routing", "let_through"]

T = TypeVar("T")

CAPTURES = (CaptureIO, TeeCaptureIO, EncodedFile)
"""The classes of the streams that pytest and its fixtures put in the place of ``sys.stdout``, at any time."""

STREAMS = ("stdout", "stderr")

HANDLERS = ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler")
"""The log handlers of pytest's logging plugin."""


class Kept:
    """What one answer printed and logged ahead of its test, in order."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, str] | logging.LogRecord] = []
        self.told = False

    async def keeping(self, make: Callable[[], Awaitable[T]]) -> T:
        """Await what ``make`` returns, and keep what it prints and logs."""
        KEPT.set(self)
        return await make()

    def replay(self) -> None:
        """Print and log it now; what its threads and tasks write from now on is let through."""
        self.told = True
        for part in self.parts:
            if isinstance(part, logging.LogRecord):
                _log(part)
            else:
                getattr(sys, part[0]).write(part[1])
        self.parts.clear()


KEPT: ContextVar[Kept | None] = ContextVar("rageval_kept", default=None)
"""Where the running code's output is kept; None lets it through."""


def let_through() -> None:
    """Show what the running code has written so far, and let through what it writes from now on."""
    kept = KEPT.get()
    if kept is not None:
        kept.replay()


def _keeps(part: tuple[str, str] | logging.LogRecord) -> bool:
    """Keep a part of what is written on behalf of an answer asked ahead, and return whether it was that."""
    kept = KEPT.get()
    if kept is None or kept.told:
        return False
    if not any(part is known for known in kept.parts[-4:]):  # a record meets several handlers
        kept.parts.append(part)
    return True


class _Stream:
    """The stream that pytest found or, under ``-s``, leaves in place; it keeps what is written ahead."""

    def __init__(self, name: str, stream: Any) -> None:
        self._name = name
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text) if _keeps((self._name, text)) else int(self._stream.write(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Records(logging.Filter):
    """Refuses the log records that are kept."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _keeps(record)


class _Always(logging.Handler):
    """Keeps log records also while no test runs, when pytest's handlers are not there."""

    def emit(self, record: logging.LogRecord) -> None:
        _keeps(record)


class Routing:
    """The streams and log handlers of a session, made to keep what is asked ahead from `start` until `stop`."""

    def __init__(self, config: pytest.Config) -> None:
        manager, plugin = map(config.pluginmanager.getplugin, ("capturemanager", "logging-plugin"))
        capturing = getattr(manager, "_global_capturing", None)
        self._captures = [getattr(capturing, part, None) for part in ("out", "err")]
        self._handlers: list[logging.Handler] = [getattr(plugin, name) for name in HANDLERS if hasattr(plugin, name)]
        self._records, self._always = _Records(), _Always()
        self._undo: list[Callable[[], object]] = []

    def start(self) -> None:
        """Route streams and log handlers; again where a test has put others in their place."""
        for name, capture in zip(STREAMS, self._captures, strict=True):
            if capture is None:  # as under -s
                _wrap(sys, name, name)
            else:
                _wrap(getattr(capture, "syscapture", capture), "_old", name)
        if self._handlers:
            logging.getLogger().addHandler(self._always)
        if self._undo:
            return
        for handler in self._handlers:
            handler.addFilter(self._records)
            self._undo.append(partial(handler.removeFilter, self._records))
        errors = getattr(self._captures[1], "tmpfile", None)
        self._undo += [_patched(kind, errors) for kind in CAPTURES]

    def stop(self) -> None:
        """Put everything back as it was."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        logging.getLogger().removeHandler(self._always)
        for name, capture in zip(STREAMS, self._captures, strict=True):
            _unwrap(getattr(capture, "syscapture", capture), "_old")
            _unwrap(sys, name)


def _wrap(holder: object, attribute: str, name: str) -> None:
    stream = getattr(holder, attribute, None)
    if stream is not None and not isinstance(stream, (_Stream, *CAPTURES)):
        setattr(holder, attribute, _Stream(name, stream))


def _unwrap(holder: object, attribute: str) -> None:
    stream = getattr(holder, attribute, None)
    if isinstance(stream, _Stream):
        setattr(holder, attribute, stream._stream)


def _patched(kind: type[Any], errors: object) -> Callable[[], None]:
    """Have the streams of a class keep what is written ahead, and return what undoes that.

    Args:
        kind: the class.
        errors: its stream that captures stderr, which between tests is not in place.
    """
    own, write = kind.__dict__.get("write"), kind.write

    def routed(stream: Any, text: str) -> int:
        name = "stderr" if stream in (sys.stderr, errors) else "stdout"
        return len(text) if _keeps((name, text)) else int(write(stream, text))

    def undo() -> None:
        if own is None:
            del kind.write
        else:
            kind.write = own

    kind.write = routed
    return undo


def _log(record: logging.LogRecord) -> None:
    """Give a record to pytest's handlers; all others had it when it was made."""
    logger: logging.Logger | None = logging.getLogger(record.name)
    if logger is None or not logger.isEnabledFor(record.levelno):
        return
    while logger is not None:
        for handler in logger.handlers:
            if record.levelno >= handler.level and any(isinstance(known, _Records) for known in handler.filters):
                handler.handle(record)
        logger = logger.parent if logger.propagate else None
