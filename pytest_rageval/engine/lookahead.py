"""Answer cases ahead of the tests that need them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_rageval.engine.loop import LoopFuture, LoopThread
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.calls import Calls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Hashable, Sequence

    from pytest_rageval.engine.case_executor import CaseResponses

__all__ = ["LookAhead"]


class LookAhead:
    """Runs tasks ahead of their tests, at most ``window`` at a time; a test claims the result of its task.

    `clear` cancels tasks that no test has claimed, and `unclaimed` reports their calls.
    """

    def __init__(self, loop: LoopThread, window: int) -> None:
        self.window = window
        self._loop = loop
        self._tasks: dict[Hashable, tuple[LoopFuture[CaseResponses], Meter]] = {}
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
        """Known cost of the calls that no outcome contains yet; None if no cost is known."""
        charged = (meter.calls for meter in (*self._dropped, *(meter for _, meter in self._tasks.values())))
        known = [calls.cost_usd for calls in charged if calls.calls and calls.cost_usd is not None]
        return sum(known) if known else None

    def start(self, key: Hashable, ask: Callable[[], Awaitable[CaseResponses]], meter: Meter) -> None:
        """Start ``ask``, which charges ``meter``; the test claims the result by ``key``."""
        self._tasks[key] = (self._loop.start(ask), meter)

    def claim(self, key: Hashable) -> CaseResponses:
        """Wait for the task ``key``, and return its result or raise its exception.

        An interrupt cancels all other tasks first, because the next one could start in the slot of this one.
        """
        running, meter = self._tasks[key]
        try:
            return self.ask_now(partial(running.result, partial(self.cancel_others, (key,))), meter)
        finally:
            self._tasks.pop(key, None)

    def ask_now(self, ask: Callable[[], CaseResponses], meter: Meter) -> CaseResponses:
        """Return the result of ``ask``, called now; if it raises, add the calls of ``meter`` to `unclaimed`."""
        try:
            return ask()
        except BaseException:
            self._dropped.append(meter)
            raise

    def drop(self, key: Hashable) -> None:
        """Cancel the task ``key``, if there is one."""
        if key in self._tasks:
            self._drop([key])

    def cancel_others(self, keys: Collection[Hashable]) -> None:
        """Cancel all tasks except ``keys`` together: a waiting task must not start in the slot of a cancelled one."""
        others = [key for key in self._tasks if key not in keys]
        if others:
            self._drop(others)

    def clear(self) -> None:
        """Cancel all tasks that no test has claimed."""
        self.cancel_others(())

    def _drop(self, keys: Sequence[Hashable]) -> None:
        dropped = [self._tasks.pop(key) for key in keys]
        self._dropped += [meter for _, meter in dropped]
        (first, _), *others = dropped
        first.cancel(*(running for running, _ in others))

    @property
    def unclaimed(self) -> Calls:
        """Model calls that no outcome contains; the number is final once the loop has ended."""
        return sum((meter.calls for meter in self._dropped), Calls())
