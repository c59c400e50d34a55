"""Ask for answers ahead of the tests that need them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_rageval.engine.loop import LoopThread, Running
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.calls import Calls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Hashable, Sequence

    from pytest_rageval.engine.asking import Asked

__all__ = ["LookAhead"]


class LookAhead:
    """The tasks in flight, each until its test claims it; at most ``window`` at a time.

    `clear` cancels tasks that no test has claimed, and `unclaimed` reports their calls.
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
        """Number of tasks that have ended but that no test has claimed yet."""
        return sum(running.done for running, _ in self._tasks.values())

    @property
    def cost_usd(self) -> float | None:
        """Known cost of the calls that are in no outcome yet, or never will be; None if nothing is known."""
        charged = (meter.calls for meter in (*self._dropped, *(meter for _, meter in self._tasks.values())))
        known = [calls.cost_usd for calls in charged if calls.calls and calls.cost_usd is not None]
        return sum(known) if known else None

    def start(self, key: Hashable, ask: Callable[[], Awaitable[Asked]], meter: Meter) -> None:
        """Start ``ask``, which charges ``meter``; its test claims it by ``key``."""
        self._tasks[key] = (self._loop.start(ask), meter)

    def claim(self, key: Hashable) -> Asked:
        """Wait for the task ``key``, and return its result or raise its exception.

        An interrupt cancels all other tasks first. Otherwise the next one could start in the slot of this one.
        """
        running, meter = self._tasks[key]
        try:
            return self.now(partial(running.result, partial(self.keep, (key,))), meter)
        finally:
            self._tasks.pop(key, None)

    def now(self, ask: Callable[[], Asked], meter: Meter) -> Asked:
        """Return the result of ``ask``; if it raises, count ``meter`` as `unclaimed`, because no outcome has it."""
        try:
            return ask()
        except BaseException:
            self._dropped.append(meter)
            raise

    def drop(self, key: Hashable) -> None:
        """Cancel the task ``key``, if there is one."""
        if key in self._tasks:
            self._drop([key])

    def keep(self, keys: Collection[Hashable]) -> None:
        """Cancel all tasks except ``keys``, all at once: a waiting one must not start in the slot of another."""
        others = [key for key in self._tasks if key not in keys]
        if others:
            self._drop(others)

    def clear(self) -> None:
        """Cancel all tasks that no test has claimed."""
        self.keep(())

    def _drop(self, keys: Sequence[Hashable]) -> None:
        dropped = [self._tasks.pop(key) for key in keys]
        self._dropped += [meter for _, meter in dropped]
        (first, _), *others = dropped
        first.cancel(*(running for running, _ in others))

    @property
    def unclaimed(self) -> Calls:
        """Model calls that are in no outcome; final once the loop has ended."""
        return sum((meter.calls for meter in self._dropped), Calls())
