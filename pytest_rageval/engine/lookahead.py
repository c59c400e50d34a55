"""Answers asked for ahead of the tests that want them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_rageval.engine.loop import LoopThread, Running
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.calls import Calls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Hashable

    from pytest_rageval.engine.asking import Asked

__all__ = ["LookAhead"]


class LookAhead:
    """The tasks on their way, each until its test claims it; at most ``window`` at a time.

    What is never claimed is cancelled by `close`, and what it had cost is told by `unclaimed`.
    """

    def __init__(self, loop: LoopThread, window: int) -> None:
        self.window = window
        self._loop = loop
        self._tasks: dict[Hashable, tuple[Running[Asked], Meter]] = {}
        self._dropped: list[Meter] = []

    def __contains__(self, key: Hashable) -> bool:
        return key in self._tasks

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def has_room(self) -> bool:
        """Whether an eighth of the window is free."""
        return len(self._tasks) <= self.window - self.window // 8

    @property
    def answered(self) -> int:
        """How many have ended that no test has claimed yet."""
        return sum(running.done for running, _ in self._tasks.values())

    @property
    def cost_usd(self) -> float | None:
        """What is known of the price of all that no outcome tells, or not yet; None as long as nothing is."""
        charged = (meter.calls for meter in (*self._dropped, *(meter for _, meter in self._tasks.values())))
        known = [calls.cost_usd for calls in charged if calls.calls and calls.cost_usd is not None]
        return sum(known) if known else None

    def start(self, key: Hashable, ask: Callable[[], Awaitable[Asked]], meter: Meter) -> None:
        """Start to ``ask``, which charges ``meter``; its test claims it by ``key``."""
        self._tasks[key] = (self._loop.start(ask), meter)

    def claim(self, key: Hashable) -> Asked:
        """Wait for what was started under ``key``, and return it or raise what it raised."""
        running, meter = self._tasks[key]
        try:
            return self.now(running.result, meter)
        finally:
            self._tasks.pop(key, None)

    def now(self, ask: Callable[[], Asked], meter: Meter) -> Asked:
        """Return what ``ask`` returns or raise what it raises; then no outcome will tell what it charged ``meter``."""
        try:
            return ask()
        except BaseException:
            self._dropped.append(meter)
            raise

    def drop(self, key: Hashable) -> None:
        """Cancel what was started under ``key``, if anything was."""
        if key in self._tasks:
            running, meter = self._tasks.pop(key)
            running.cancel()
            self._dropped.append(meter)

    def keep(self, keys: Collection[Hashable]) -> None:
        """Cancel everything but what was started under one of ``keys``.

        The last comes first, so that what waits for a slot does not start in that of one that was cancelled.
        """
        for key in [key for key in reversed(self._tasks) if key not in keys]:
            self.drop(key)

    def clear(self) -> None:
        """Cancel everything that has not been claimed."""
        self.keep(())

    @property
    def unclaimed(self) -> Calls:
        """What was asked of models in vain; true once the loop has ended."""
        return sum((meter.calls for meter in self._dropped), Calls())
