"""Time for which an async system blocks the loop."""

from __future__ import annotations

import asyncio
import time

import pytest

from pytest_rageval.engine.blocking import BlockingMeter, TimedAwaitable


async def waits(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "waited"


async def blocks(seconds: float) -> str:
    await asyncio.sleep(0)
    time.sleep(seconds)
    return "blocked"


def test_awaited_time_is_not_blocking() -> None:
    blocking = BlockingMeter()
    assert asyncio.run(_await(TimedAwaitable(waits(0.1), blocking))) == "waited"
    assert blocking.seconds >= 0.1
    assert blocking.blocked_s < 0.05
    assert (blocking.calls, blocking.is_blocking) == (1, False)


def test_a_sleeping_thread_is_blocking() -> None:
    blocking = BlockingMeter()
    assert asyncio.run(_await(TimedAwaitable(blocks(0.55), blocking))) == "blocked"
    assert blocking.blocked_s >= 0.5
    assert blocking.is_blocking


def test_computing_is_not_blocking() -> None:
    async def computes() -> None:
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass

    blocking = BlockingMeter()
    asyncio.run(_await(TimedAwaitable(computes(), blocking)))
    assert blocking.seconds >= 0.1
    assert not blocking.is_blocking


def test_errors_and_cancellation_are_passed_on() -> None:
    events = []

    async def fails() -> None:
        raise ValueError("boom")

    async def cancelled() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            events.append("cancelled")
            raise

    async def cancels() -> None:
        task = asyncio.create_task(_await(TimedAwaitable(cancelled(), BlockingMeter())))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(ValueError, match="boom"):
        asyncio.run(_await(TimedAwaitable(fails(), BlockingMeter())))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancels())
    assert events == ["cancelled"]


async def _await(timed: TimedAwaitable[object]) -> object:
    return await timed


def test_calls_that_wait_for_each_other_are_blocking() -> None:
    async def together() -> None:
        await asyncio.gather(*(_await(TimedAwaitable(blocks(0.06), blocking)) for _ in range(10)))

    blocking = BlockingMeter()
    asyncio.run(together())
    assert 0.6 <= blocking.seconds < 2
    assert (blocking.calls, blocking.is_blocking) == (10, True)
