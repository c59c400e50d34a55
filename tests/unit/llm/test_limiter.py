"""The rate limiter: slots, a bound that falls on refusals and rises again, and the order of waiting calls."""

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
    """Replies after ``delay_s``; refuses a share of all requests and every request beyond its capacity."""

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


def test_without_refusals_all_slots_are_used() -> None:
    provider = Provider(Limiter(64))
    replies, seconds = run_virtually(ask(provider, 640))
    assert (len(replies), provider.peak) == (640, 64)
    assert seconds == pytest.approx(10 * 0.2)
    assert provider.limiter.in_flight == 0


def test_concurrent_calls_send_one_request_in_each_turn_of_the_event_loop() -> None:
    limiter, turns, send_turns = Limiter(8), 0, []

    async def send() -> None:
        send_turns.append(turns)
        await asyncio.sleep(1.0)

    async def count() -> None:
        nonlocal turns
        calls = asyncio.gather(*(Tries(PATIENT, limiter).run(send) for _ in range(8)))
        while len(send_turns) < 8:
            await asyncio.sleep(0)
            turns += 1
        await calls

    run_virtually(count())
    assert len(set(send_turns)) == 8


def test_rare_refusals_hardly_change_the_bound() -> None:
    provider = Provider(Limiter(64), share=0.05)
    replies, seconds = run_virtually(ask(provider, 10_000))
    assert len(replies) == 10_000
    assert min(bound for _, bound in provider.bounds) > 56
    assert provider.sent * 0.2 / seconds > 0.9 * 64  # in flight on average


def test_the_bound_falls_quickly_to_the_capacity_of_the_provider() -> None:
    provider = Provider(Limiter(64), capacity=4)
    replies, seconds = run_virtually(ask(provider, 600))
    assert len(replies) == 600
    assert next(at for at, bound in provider.bounds if bound < 8) <= 3 * 0.2
    later = [bound for at, bound in provider.bounds if at > 2.0]
    assert 4 < min(later) < max(later) < 8
    assert seconds < 1.2 * 600 * 0.2 / 4  # little of the capacity is unused


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


def test_the_bound_never_falls_below_one() -> None:
    async def refuse_often() -> None:
        for _ in range(100):
            with pytest.raises(ModelError):
                async with limiter.turn():
                    raise REFUSAL

    limiter = Limiter(8)
    asyncio.run(refuse_often())
    assert limiter.bound == 1.0


@pytest.mark.parametrize("error", [ModelError("server_error", "500"), ModelError("timeout", "late"), ValueError("bug")])
def test_other_failures_do_not_move_the_bound(error: Exception) -> None:
    async def fail_often() -> None:
        for _ in range(10):
            with pytest.raises(type(error)):
                async with limiter.turn():
                    raise error

    limiter = Limiter(8)
    asyncio.run(fail_often())
    assert (limiter.bound, limiter.in_flight) == (8.0, 0)


async def serving_order(limiter: Limiter, turns: list[Turn]) -> list[int]:
    """Return the order in which waiting turns get the only slot."""
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


def test_slots_go_to_calls_in_the_order_of_arrival() -> None:
    limiter = Limiter(1)
    assert asyncio.run(serving_order(limiter, [limiter.turn() for _ in range(20)])) == list(range(20))


def test_a_retry_keeps_the_place_of_its_call_in_the_queue() -> None:
    limiter = Limiter(1)
    old, *new = [limiter.turn() for _ in range(4)]
    assert asyncio.run(serving_order(limiter, [*new, old])) == [3, 0, 1, 2]


def test_a_call_cancelled_in_the_queue_takes_no_slot() -> None:
    async def cancel_in_the_queue() -> list[str]:
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
    assert asyncio.run(cancel_in_the_queue()) == ["a", "c"]
    assert limiter.in_flight == 0


@pytest.mark.parametrize("has_slot", [False, True], ids=["before", "after"])
def test_a_call_cancelled_when_it_gets_a_slot_passes_it_on(has_slot: bool) -> None:
    async def cancel_with_the_slot() -> str:
        async def wait(name: str) -> str:
            async with limiter.turn():
                return name

        async with limiter.turn():
            first, second = asyncio.create_task(wait("first")), asyncio.create_task(wait("second"))
            await asyncio.sleep(0)
        if has_slot:
            await asyncio.sleep(0)
        assert limiter.in_flight == has_slot
        first.cancel()  # it has not run again yet, so it does not know of its slot
        return await asyncio.wait_for(second, 5)

    limiter = Limiter(1)
    assert asyncio.run(cancel_with_the_slot()) == "second"
    assert limiter.in_flight == 0


def test_a_limiter_works_on_several_event_loops() -> None:
    limiter = Limiter(2)
    for _ in range(2):
        provider = Provider(limiter, delay_s=0.001)
        assert len(asyncio.run(ask(provider, 6))) == 6
        assert provider.peak == 2


def test_a_closed_limiter_refuses_waiting_and_later_calls() -> None:
    async def scenario() -> list[tuple[str, str, int]]:
        limiter = Limiter(1)
        errors: list[tuple[str, str, int]] = []

        async def wait_for_error() -> None:
            with pytest.raises(ModelError) as raised:
                await limiter.turn().__aenter__()
            errors.append((raised.value.kind, str(raised.value), raised.value.attempts))

        async with limiter.turn():
            first, second = asyncio.create_task(wait_for_error()), asyncio.create_task(wait_for_error())
            await asyncio.sleep(0)
            limiter.close(ModelError("auth", "no such key"))
            second.cancel()
            await first
            await asyncio.gather(second, return_exceptions=True)
        await wait_for_error()
        assert limiter.in_flight == 0
        return errors

    assert run_virtually(scenario())[0] == [("auth", "no such key", 0)] * 2
