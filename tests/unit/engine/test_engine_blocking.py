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


def test_time_that_is_awaited_does_not_block() -> None:
    blocking = BlockingMeter()
    assert asyncio.run(_awaited(TimedAwaitable(waits(0.1), blocking))) == "waited"
    assert blocking.seconds >= 0.1
    assert blocking.blocked_s < 0.05
    assert (blocking.calls, blocking.is_blocking) == (1, False)


def test_a_sleeping_thread_blocks() -> None:
    blocking = BlockingMeter()
    assert asyncio.run(_awaited(TimedAwaitable(blocks(0.55), blocking))) == "blocked"
    assert blocking.blocked_s >= 0.5
    assert blocking.is_blocking


def test_computing_does_not_count() -> None:
    async def computes() -> None:
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass

    blocking = BlockingMeter()
    asyncio.run(_awaited(TimedAwaitable(computes(), blocking)))
    assert blocking.seconds >= 0.1
    assert not blocking.is_blocking


def test_errors_and_cancelling_go_through() -> None:
    seen = []

    async def fails() -> None:
        raise ValueError("boom")

    async def cancelled() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def cancels() -> None:
        task = asyncio.create_task(_awaited(TimedAwaitable(cancelled(), BlockingMeter())))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(ValueError, match="boom"):
        asyncio.run(_awaited(TimedAwaitable(fails(), BlockingMeter())))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancels())
    assert seen == ["cancelled"]


async def _awaited(timed: TimedAwaitable[object]) -> object:
    return await timed


def test_calls_that_wait_for_each_other_block() -> None:
    async def together() -> None:
        await asyncio.gather(*(_awaited(TimedAwaitable(blocks(0.06), blocking)) for _ in range(10)))

    blocking = BlockingMeter()
    asyncio.run(together())
    assert 0.6 <= blocking.seconds < 2
    assert (blocking.calls, blocking.is_blocking) == (10, True)
