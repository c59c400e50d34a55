"""Stop signals of running requests, so another request can stop them."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from pytest_rageval.errors import SettingError

__all__ = ["StopSignals"]


class StopSignals:
    """Stop signals of the work in progress by key; work with the same key cannot run twice at a time."""

    def __init__(self) -> None:
        self._running: dict[Hashable, threading.Event] = {}

    @contextmanager
    def running(self, key: Hashable, what: str) -> Iterator[threading.Event]:
        """Yield the stop signal of work while it runs.

        Args:
            key: identifies the work.
            what: names it in errors.

        Raises:
            SettingError: work with this key runs already.
        """
        if key in self._running:
            raise SettingError(f"{what} runs already; wait for its end, or stop it")
        stop = self._running[key] = threading.Event()
        try:
            yield stop
        finally:
            del self._running[key]

    def stop(self, key: Hashable, what: str) -> None:
        """Set the stop signal of work.

        Raises:
            SettingError: no work with this key runs.
        """
        if key not in self._running:
            raise SettingError(f"{what} does not run")
        self._running[key].set()
