"""Store what a system prints and logs while it is asked ahead; replay it in its own test.

Pytest attributes all output to the test that is running. Only this module depends on how pytest captures output. It
cannot separate output written directly to the file descriptors of stdout and stderr.
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

__all__ = ["AheadOutput", "Routing", "show_directly"]

T = TypeVar("T")

CAPTURES = (CaptureIO, TeeCaptureIO, EncodedFile)
"""Classes of the streams that pytest and its fixtures put in the place of ``sys.stdout``."""

STREAMS = ("stdout", "stderr")

HANDLERS = ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler")
"""The log handlers of pytest's logging plugin."""


class AheadOutput:
    """Output and log records of one answer that was asked ahead, in order."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, str] | logging.LogRecord] = []
        self.is_replayed = False

    async def capture(self, make: Callable[[], Awaitable[T]]) -> T:
        """Await what ``make`` returns; store what it prints and logs."""
        AHEAD_OUTPUT.set(self)
        return await make()

    def replay(self) -> None:
        """Print and log the stored parts now; later output of the answer's threads and tasks is shown directly."""
        self.is_replayed = True
        for part in self.parts:
            if isinstance(part, logging.LogRecord):
                _log(part)
            else:
                getattr(sys, part[0]).write(part[1])
        self.parts.clear()


AHEAD_OUTPUT: ContextVar[AheadOutput | None] = ContextVar("rageval_ahead_output", default=None)
"""The object that stores the output of the running code; None if the output is shown directly."""


def show_directly() -> None:
    """Show the stored output of the running code now, and its later output directly."""
    output = AHEAD_OUTPUT.get()
    if output is not None:
        output.replay()


def _store(part: tuple[str, str] | logging.LogRecord) -> bool:
    """Store a part of the output if it belongs to an answer that is asked ahead; return whether it does."""
    output = AHEAD_OUTPUT.get()
    if output is None or output.is_replayed:
        return False
    if not any(part is known for known in output.parts[-4:]):  # several handlers receive the same record
        output.parts.append(part)
    return True


class _Stream:
    """Wraps the original stream, which pytest leaves in place under ``-s``; stores output written ahead."""

    def __init__(self, name: str, stream: Any) -> None:
        self._name = name
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text) if _store((self._name, text)) else int(self._stream.write(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _RecordFilter(logging.Filter):
    """Rejects log records that are stored for later."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _store(record)


class _RecordHandler(logging.Handler):
    """Stores log records while no test runs: pytest removes its handlers then."""

    def emit(self, record: logging.LogRecord) -> None:
        _store(record)


class Routing:
    """Routes the session's streams and log handlers between `start` and `stop`: output written ahead is stored."""

    def __init__(self, config: pytest.Config) -> None:
        manager, plugin = map(config.pluginmanager.getplugin, ("capturemanager", "logging-plugin"))
        capturing = getattr(manager, "_global_capturing", None)
        self._captures = [getattr(capturing, part, None) for part in ("out", "err")]
        self._handlers: list[logging.Handler] = [getattr(plugin, name) for name in HANDLERS if hasattr(plugin, name)]
        self._record_filter, self._record_handler = _RecordFilter(), _RecordHandler()
        self._undo: list[Callable[[], object]] = []

    def start(self) -> None:
        """Route streams and log handlers; may run again, because a test may have replaced them."""
        for name, capture in zip(STREAMS, self._captures, strict=True):
            if capture is None:  # as under -s
                _wrap(sys, name, name)
            else:
                _wrap(getattr(capture, "syscapture", capture), "_old", name)
        if self._handlers:
            logging.getLogger().addHandler(self._record_handler)
        if self._undo:
            return
        for handler in self._handlers:
            handler.addFilter(self._record_filter)
            self._undo.append(partial(handler.removeFilter, self._record_filter))
        errors = getattr(self._captures[1], "tmpfile", None)
        self._undo += [_patch(kind, errors) for kind in CAPTURES]

    def stop(self) -> None:
        """Restore all streams and handlers."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        logging.getLogger().removeHandler(self._record_handler)
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


def _patch(kind: type[Any], errors: object) -> Callable[[], None]:
    """Patch ``write`` of a stream class to store output written ahead; return the function that undoes it.

    Args:
        kind: the class.
        errors: pytest's stream that captures stderr; between tests it is not ``sys.stderr``.
    """
    own_write, write = kind.__dict__.get("write"), kind.write

    def store_or_write(stream: Any, text: str) -> int:
        name = "stderr" if stream in (sys.stderr, errors) else "stdout"
        return len(text) if _store((name, text)) else int(write(stream, text))

    def undo() -> None:
        if own_write is None:
            del kind.write
        else:
            kind.write = own_write

    kind.write = store_or_write
    return undo


def _log(record: logging.LogRecord) -> None:
    """Pass a record to pytest's handlers; all others received it when it was created."""
    logger: logging.Logger | None = logging.getLogger(record.name)
    if logger is None or not logger.isEnabledFor(record.levelno):
        return
    while logger is not None:
        for handler in logger.handlers:
            if record.levelno >= handler.level and any(isinstance(known, _RecordFilter) for known in handler.filters):
                handler.handle(record)
        logger = logger.parent if logger.propagate else None
