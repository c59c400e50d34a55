from __future__ import annotations

import asyncio
import random

import pytest
from support.samples.virtual_time import run_virtually

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.client.rate_limiter import Limiter, Turn
from pytest_rageval.llm.client.retry import RetryPolicy, Tries

REFUSAL = ModelError("rate_limited", "too many requests")
PATIENT = RetryPolicy(attempts=1000, deadline_s=1e6)


class Provider:
    """Takes ``delay_s`` for everything; refuses a share of all requests, and those beyond its capacity."""

    def __init__(self, limiter: Limiter, *, share: float = 0.0, capacity: int = 10**6, delay_s: float = 0.2) -> None:
        self.limiter, self.share, self.capacity, self.delay_s = limiter, share, capacity, delay_s
        self.random = random.Random(7)
        self.in_flight = self.peak = self.sent = 0
        self.bounds: list[tuple[float, float]] = []

    async def __call__(self) -> str:
        refused = self.in_flight >= self.capacity or self.random.random() < self.share
        self.sent += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        await asyncio.sleep(self.delay_s)
        self.in_flight -= 1
        self.bounds.append((asyncio.get_running_loop().time(), self.limiter.bound))
        if refused:
            raise REFUSAL
        return "yes"


async def ask(provider: Provider, calls: int) -> list[str]:
    return await asyncio.gather(*(Tries(PATIENT, provider.limiter).run(provider) for _ in range(calls)))


def test_without_refusals_all_slots_are_used_and_no_more() -> None:
    provider = Provider(Limiter(64))
    replies, took = run_virtually(ask(provider, 640))
    assert (len(replies), provider.peak) == (640, 64)
    assert took == pytest.approx(10 * 0.2)
    assert provider.limiter.in_flight == 0


def test_requests_of_calls_that_begin_at_once_are_sent_one_a_turn_of_the_event_loop() -> None:
    limiter, turns, sent = Limiter(8), 0, []

    async def send() -> None:
        sent.append(turns)
        await asyncio.sleep(1.0)

    async def count() -> None:
        nonlocal turns
        calls = asyncio.gather(*(Tries(PATIENT, limiter).run(send) for _ in range(8)))
        while len(sent) < 8:
            await asyncio.sleep(0)
            turns += 1
        await calls

    run_virtually(count())
    assert len(set(sent)) == 8


def test_stray_refusals_leave_the_bound_where_it_is() -> None:
    provider = Provider(Limiter(64), share=0.05)
    replies, took = run_virtually(ask(provider, 10_000))
    assert len(replies) == 10_000
    assert min(bound for _, bound in provider.bounds) > 56
    assert provider.sent * 0.2 / took > 0.9 * 64  # in flight on average


def test_a_provider_that_takes_few_at_a_time_is_soon_sent_few() -> None:
    provider = Provider(Limiter(64), capacity=4)
    replies, took = run_virtually(ask(provider, 600))
    assert len(replies) == 600
    assert next(at for at, bound in provider.bounds if bound < 8) <= 3 * 0.2
    later = [bound for at, bound in provider.bounds if at > 2.0]
    assert 4 < min(later) < max(later) < 8
    assert took < 1.2 * 600 * 0.2 / 4  # little of what it would take is left unused


def test_the_bound_rises_again_when_refusals_end() -> None:
    async def two_phases() -> tuple[float, float]:
        await ask(provider, 200)
        low, provider.capacity = provider.limiter.bound, 64
        await ask(provider, 3000)
        return low, provider.limiter.bound

    provider = Provider(Limiter(64), capacity=4)
    (low, high), _ = run_virtually(two_phases())
    assert low < 8
    assert high == 64


def test_the_bound_falls_to_one_and_no_further() -> None:
    async def refused() -> None:
        for _ in range(100):
            with pytest.raises(ModelError):
                async with limiter.turn():
                    raise REFUSAL

    limiter = Limiter(8)
    asyncio.run(refused())
    assert limiter.bound == 1.0


@pytest.mark.parametrize("error", [ModelError("server_error", "500"), ModelError("timeout", "late"), ValueError("bug")])
def test_other_failures_do_not_move_the_bound(error: Exception) -> None:
    async def failing() -> None:
        for _ in range(10):
            with pytest.raises(type(error)):
                async with limiter.turn():
                    raise error

    limiter = Limiter(8)
    asyncio.run(failing())
    assert (limiter.bound, limiter.in_flight) == (8.0, 0)


async def in_order(limiter: Limiter, turns: list[Turn]) -> list[int]:
    """Return in which order those who wait for one slot get it."""
    served: list[int] = []

    async def wait(number: int, turn: Turn) -> None:
        async with turn:
            served.append(number)
            await asyncio.sleep(0)

    async with limiter.turn():
        waiting = [asyncio.create_task(wait(number, turn)) for number, turn in enumerate(turns)]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    return served


def test_slots_are_given_in_the_order_of_arrival() -> None:
    limiter = Limiter(1)
    assert asyncio.run(in_order(limiter, [limiter.turn() for _ in range(20)])) == list(range(20))


def test_a_call_that_came_before_goes_before_when_it_comes_again() -> None:
    limiter = Limiter(1)
    old, *new = [limiter.turn() for _ in range(4)]
    assert asyncio.run(in_order(limiter, [*new, old])) == [3, 0, 1, 2]


def test_who_is_cancelled_while_waiting_takes_no_slot() -> None:
    async def cancelled_in_the_queue() -> list[str]:
        served: list[str] = []

        async def wait(name: str) -> None:
            async with limiter.turn():
                served.append(name)

        async with limiter.turn():
            tasks = {name: asyncio.create_task(wait(name)) for name in "abc"}
            await asyncio.sleep(0)
            tasks["b"].cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        assert tasks["b"].cancelled()
        return served

    limiter = Limiter(1)
    assert asyncio.run(cancelled_in_the_queue()) == ["a", "c"]
    assert limiter.in_flight == 0


@pytest.mark.parametrize("given", [False, True], ids=["before", "after"])
def test_who_is_cancelled_as_the_slot_is_given_hands_it_on(given: bool) -> None:
    async def cancelled_with_the_slot() -> str:
        async def wait(name: str) -> str:
            async with limiter.turn():
                return name

        async with limiter.turn():
            first, second = asyncio.create_task(wait("first")), asyncio.create_task(wait("second"))
            await asyncio.sleep(0)
        if given:
            await asyncio.sleep(0)
        assert limiter.in_flight == given
        first.cancel()  # it has not run since, so that it does not know of a slot
        return await asyncio.wait_for(second, 5)

    limiter = Limiter(1)
    assert asyncio.run(cancelled_with_the_slot()) == "second"
    assert limiter.in_flight == 0


def test_it_outlives_an_event_loop() -> None:
    limiter = Limiter(2)
    for _ in range(2):
        provider = Provider(limiter, delay_s=0.001)
        assert len(asyncio.run(ask(provider, 6))) == 6
        assert provider.peak == 2


def test_closed_slots_are_given_to_nobody_who_waits_or_comes_later() -> None:
    async def scenario() -> list[tuple[str, str, int]]:
        limiter = Limiter(1)
        told: list[tuple[str, str, int]] = []

        async def wanted() -> None:
            with pytest.raises(ModelError) as raised:
                await limiter.turn().__aenter__()
            told.append((raised.value.kind, str(raised.value), raised.value.attempts))

        async with limiter.turn():
            waiting, cancelled = asyncio.create_task(wanted()), asyncio.create_task(wanted())
            await asyncio.sleep(0)
            limiter.close(ModelError("auth", "no such key"))
            cancelled.cancel()
            await waiting
            await asyncio.gather(cancelled, return_exceptions=True)
        await wanted()
        assert limiter.in_flight == 0
        return told

    assert run_virtually(scenario())[0] == [("auth", "no such key", 0)] * 2
