"""What runs for a request of the page and can be stopped by another one."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from pytest_rageval.errors import SettingError

__all__ = ["Stops"]


class Stops:
    """The work in progress, each by a key; the same work runs once at a time."""

    def __init__(self) -> None:
        self._running: dict[Hashable, threading.Event] = {}

    @contextmanager
    def running(self, key: Hashable, what: str) -> Iterator[threading.Event]:
        """Yield what `stop` sets while work runs.

        Args:
            key: identifies the work.
            what: names it in errors.

        Raises:
            SettingError: it runs already.
        """
        if key in self._running:
            raise SettingError(f"{what} runs already; wait for its end, or stop it")
        stop = self._running[key] = threading.Event()
        try:
            yield stop
        finally:
            del self._running[key]

    def stop(self, key: Hashable, what: str) -> None:
        """Stop work.

        Raises:
            SettingError: it does not run.
        """
        if key not in self._running:
            raise SettingError(f"{what} does not run")
        self._running[key].set()
