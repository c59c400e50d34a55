"""Keep a test in its worker after its system is asked, also with ``--dist worksteal``."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest

__all__ = ["StealGuard"]


class StealGuard:
    """Handles the scheduler's requests to steal tests: no other worker must ask and pay for the same answer.

    A request gets only tests whose system is not yet asked. If there are none, it is declined after the next test: the
    scheduler repeats a declined request at once, and would otherwise do so endlessly.

    Args:
        worker: xdist's plugin in this worker; its ``steal`` is replaced.
    """

    def __init__(self, worker: Any) -> None:
        self._worker = worker
        self._started: set[int] = set()  # indexes of tests whose system is asked
        self._is_waiting = False
        self._steal = worker.steal
        worker.steal = self.steal

    def keep(self, index: int) -> bool:
        """Keep the test with this index; return False if it has been stolen."""
        with self._worker.torun.lock() as queued:
            if index != self._worker.nextitem_index and index not in queued:
                return False
            self._started.add(index)
        return True

    def steal(self, indices: Sequence[int]) -> None:
        """Give away those of these tests whose system is not yet asked; runs on xdist's thread."""
        with self._worker.torun.lock() as queued:
            started = self._started.intersection(indices, queued)
            free = [index for index in indices if index not in started]
            if free:
                self._steal(free)
            else:  # one of them is still queued, so another test will end and decline the request
                self._is_waiting = True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Decline a waiting request after a test."""
        try:
            return (yield)
        finally:
            with self._worker.torun.lock():
                if self._is_waiting:
                    self._is_waiting = False
                    self._steal([])
