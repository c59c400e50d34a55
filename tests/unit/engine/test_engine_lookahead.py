"""Answers that are requested ahead of their tests."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from pytest_rageval.engine.case_executor import CaseResponses
from pytest_rageval.engine.lookahead import LookAhead
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.llm.client.usage_meter import Meter
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.calls import Calls

Ask = Callable[[], Coroutine[Any, Any, CaseResponses]]


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


def answer_with(text: str, meter: Meter | None = None, seconds: float = 0.0) -> Ask:
    async def ask() -> CaseResponses:
        await asyncio.sleep(seconds)
        if meter is not None:
            meter.add(Calls(1, 0, 1, 10, 2, 0.5, 0.5))
        return CaseResponses(Answer(text))

    return ask


def test_look_ahead_has_room_when_an_eighth_of_the_window_is_free(loop: LoopThread) -> None:
    ahead = LookAhead(loop, 16)
    for key in range(16):
        assert ahead.has_room == (key <= 14)
        ahead.start(key, answer_with("a"), Meter())
    ahead.claim(0)
    assert not ahead.has_room
    ahead.claim(1)
    assert ahead.has_room


def test_tasks_are_claimed_in_any_order(loop: LoopThread) -> None:
    ahead = LookAhead(loop, 4)
    for key in "abc":
        ahead.start(key, answer_with(key), Meter())
    assert len(ahead) == 3
    assert "a" in ahead
    for key in "bca":
        assert ahead.claim(key).answer == Answer(key)
    assert len(ahead) == 0
    assert "a" not in ahead


def test_an_error_is_raised_by_claim_and_its_cost_is_counted(loop: LoopThread) -> None:
    meter = Meter()

    async def fails() -> CaseResponses:
        meter.add(Calls(1, 0, 1, 10, 2, 0.5, 0.5))
        raise LookupError("no")

    ahead = LookAhead(loop, 4)
    ahead.start("a", fails, meter)
    with pytest.raises(LookupError, match="no"):
        ahead.claim("a")
    assert ahead.unclaimed == Calls(1, 0, 1, 10, 2, 0.5, 0.5)


def test_a_failure_in_the_thread_of_the_test_is_counted(loop: LoopThread) -> None:
    ahead, meter = LookAhead(loop, 4), Meter()

    def interrupt() -> CaseResponses:
        meter.add(Calls(1, 0, 1, 10, 2, 0.5, 0.5))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ahead.ask_now(interrupt, meter)
    assert ahead.ask_now(CaseResponses, Meter()) == CaseResponses()
    assert ahead.unclaimed == Calls(1, 0, 1, 10, 2, 0.5, 0.5)


def test_unclaimed_tasks_are_cancelled_and_counted(loop: LoopThread) -> None:
    ahead, meters = LookAhead(loop, 8), [Meter() for _ in range(4)]
    for number, meter in enumerate(meters):
        ahead.start(number, answer_with(str(number), meter, 0.0 if number < 3 else 60.0), meter)
    assert ahead.claim(0).answer == Answer("0")
    while meters[2].calls.calls == 0:
        time.sleep(0.001)
    ahead.cancel_others([2])
    assert 1 not in ahead
    assert 2 in ahead
    ahead.clear()
    assert len(ahead) == 0
    loop.close()
    assert ahead.unclaimed.calls == 2  # neither the claimed one nor the one cancelled before its call
    assert ahead.unclaimed.cost_usd == 1.0


def test_finished_tasks_and_their_cost_are_reported_before_the_claim(loop: LoopThread) -> None:
    ahead, meters = LookAhead(loop, 8), [Meter() for _ in range(3)]
    assert (ahead.answered, ahead.cost_usd) == (0, None)
    for number, meter in enumerate(meters):
        ahead.start(number, answer_with(str(number), meter, 60.0 * (number == 2)), meter)
    ahead.claim(0)
    deadline = time.monotonic() + 10
    while ahead.answered < 1 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert (ahead.answered, ahead.cost_usd) == (1, 0.5)
    ahead.drop(1)
    assert (ahead.answered, ahead.cost_usd) == (0, 0.5), "an unclaimed answer is paid, too"


def test_waiting_tasks_are_cancelled_before_running_ones(loop: LoopThread) -> None:
    slots: list[asyncio.Semaphore] = []
    started: list[int] = []

    def ask(number: int) -> Ask:
        async def one() -> CaseResponses:
            slots[:] = slots or [asyncio.Semaphore(2)]
            async with slots[0]:
                started.append(number)
                await asyncio.sleep(60)
            return CaseResponses()

        return one

    ahead = LookAhead(loop, 20)
    for number in range(20):
        ahead.start(number, ask(number), Meter())
    while len(started) < 2:
        time.sleep(0.001)
    ahead.clear()
    loop.close()
    assert started == [0, 1]


def test_a_task_that_is_cancelled_immediately_never_starts(loop: LoopThread) -> None:
    blocked, free = threading.Event(), threading.Event()
    started: list[int] = []

    async def block() -> None:
        blocked.set()
        free.wait(10)

    def ask(number: int) -> Ask:
        def one() -> Coroutine[Any, Any, CaseResponses]:
            started.append(number)
            return answer_with("")()

        return one

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ahead = LookAhead(loop, 9)
        loop.start(block)
        blocked.wait(10)
        for number in range(9):
            ahead.start(number, ask(number), Meter())
        ahead.clear()
        free.set()
        loop.close()
        gc.collect()
    assert started == []
    assert [str(warning.message) for warning in caught] == []


def test_ten_thousand_cases_hold_no_more_objects_than_the_window(loop: LoopThread) -> None:
    ahead, peak, peak_objects = LookAhead(loop, 64), 0, 0
    keys = iter(range(10_000))

    class BigObject:
        count = 0

        def __init__(self, key: int) -> None:
            self.text = str(key)
            BigObject.count += 1

        def __del__(self) -> None:
            BigObject.count -= 1

    def ask(key: int) -> Ask:
        big_object = BigObject(key)

        async def one() -> CaseResponses:
            await asyncio.sleep(0)
            return CaseResponses(Answer(big_object.text))

        return one

    for key in range(10_000):
        while len(ahead) < ahead.window and (next_key := next(keys, None)) is not None:
            ahead.start(next_key, ask(next_key), Meter())
        peak, peak_objects = max(peak, len(ahead)), max(peak_objects, BigObject.count)
        assert ahead.claim(key).answer == Answer(str(key))
    assert peak == 64
    assert peak_objects <= 66
    assert len(ahead) == 0
    assert ahead.unclaimed == Calls()
