"""Record one step while its code runs."""

from __future__ import annotations

import time
from contextvars import Token
from types import TracebackType
from typing import Any

from pytest_rageval.trace.collector import CURRENT_STEP, Event, current_collector, drop_step

__all__ = ["SOURCE", "RecordedStep", "error_text"]

SOURCE = "tracing"


class RecordedStep:
    """A step that starts and ends with its ``with`` block; outside a case it records nothing.

    Steps that begin inside the block, also in its tasks, get this one as their parent.

    Attributes:
        detail: the step's values; the block may add some.
        is_recorded: whether the block runs in a case, so the step is recorded.
    """

    __slots__ = ("_event", "_kind", "_outer", "_start", "_watcher", "detail", "is_recorded")

    def __init__(self, kind: str, detail: dict[str, Any]) -> None:
        self._kind = kind
        self.detail = detail
        self.is_recorded = False

    def __enter__(self) -> RecordedStep:
        collector = current_collector()
        if collector is None:
            drop_step()
            return self
        self.is_recorded = True
        self._watcher = collector.watcher
        self._event = collector.add(Event(self._kind, self.detail, source=SOURCE))
        self._outer: Token[Event | None] = CURRENT_STEP.set(self._event)
        self._start = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.is_recorded:
            return
        seconds = time.perf_counter() - self._start
        self._event.end = self._event.start + seconds
        self.detail["seconds"] = seconds
        if error is not None:
            self.detail["error"] = error_text(error)
        if self._watcher is not None:
            self._watcher(self._event)
        try:  # `contextlib.suppress` would take a tenth of the time of a step
            CURRENT_STEP.reset(self._outer)
        except ValueError:  # Python closes an abandoned generator in another context
            return


def error_text(error: BaseException) -> str:
    """Return ``ValueError: no such page``."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # a user's exception may have a broken ``__str__``
        return name
    return f"{name}: {text}" if text else name
