"""Laws of the rate limiter for any schedule of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.client.rate_limiter import Limiter

Ending = str | None
"""How a request ends: the kind of its `ModelError`, or None for a reply."""

endings = st.sampled_from([None, None, "rate_limited", "timeout"])
steps = st.one_of(
    st.tuples(st.just("arrive"), st.just(0), st.none()),
    st.tuples(st.just("end"), st.integers(0, 20), endings),
    st.tuples(st.just("cancel"), st.integers(0, 20), st.none()),
)
schedules = st.lists(st.tuples(steps, st.booleans()), max_size=60)
"""Each step, and whether the event loop runs after it or only after the next step."""


class Requests:
    """Fake requests that end on command."""

    def __init__(self, most: int) -> None:
        self.limiter = Limiter(most)
        self.tasks: list[asyncio.Task[None]] = []
        self.sent: dict[int, asyncio.Future[Ending]] = {}
        self.order: list[int] = []

    async def request(self, number: int) -> None:
        try:
            async with self.limiter.turn():
                self.order.append(number)
                assert self.limiter.in_flight <= self.limiter.bound
                self.sent[number] = asyncio.get_running_loop().create_future()
                try:
                    kind = await self.sent[number]
                finally:
                    del self.sent[number]
                if kind is not None:
                    raise ModelError(kind, "as commanded")
        except ModelError:
            pass

    async def step(self, what: str, which: int, kind: Ending) -> None:
        if what == "arrive":
            self.tasks.append(asyncio.create_task(self.request(len(self.tasks))))
            await asyncio.sleep(0)  # numbers are given in the order of arrival
        elif what == "end" and self.sent:
            reply = list(self.sent.values())[which % len(self.sent)]
            if not reply.done():
                reply.set_result(kind)
        elif what == "cancel" and self.tasks:
            self.tasks[which % len(self.tasks)].cancel()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def play(schedule: Sequence[tuple[tuple[str, int, Ending], bool]], most: int) -> Requests:
    requests = Requests(most)
    for (what, which, kind), at_once in schedule:
        await requests.step(what, which, kind)
        if at_once:
            await settle()
            pending = sum(not task.done() for task in requests.tasks)
            assert len(requests.sent) == requests.limiter.in_flight
            assert 1 <= requests.limiter.bound <= most
            if pending > len(requests.sent):  # somebody waits: then no slot is free
                assert requests.limiter.in_flight >= int(requests.limiter.bound)
    for _ in range(len(requests.tasks) + 1):
        await settle()
        for reply in requests.sent.values():
            if not reply.done():
                reply.set_result(None)
    return requests


@given(schedules, st.integers(1, 6))
def test_requests_in_flight_stay_within_the_bound_and_all_of_them_end(
    schedule: Sequence[tuple[tuple[str, int, Ending], bool]], most: int
) -> None:
    async def play_all() -> None:
        requests = await play(schedule, most)
        assert all(task.done() for task in requests.tasks)
        assert requests.limiter.in_flight == 0
        assert requests.order == sorted(requests.order)
        for task in requests.tasks:
            if not task.cancelled():
                task.result()

    asyncio.run(play_all())


@given(st.lists(st.booleans(), max_size=200), st.integers(1, 64))
def test_the_bound_stays_within_its_limits_and_moves_by_one_slot_at_most(refusals: list[bool], most: int) -> None:
    async def bounds() -> list[float]:
        history = [limiter.bound]
        for refusal in refusals:
            try:
                async with limiter.turn():
                    if refusal:
                        raise ModelError("rate_limited", "no")
            except ModelError:
                assert limiter.bound <= history[-1]
            else:
                assert limiter.bound >= history[-1]
            history.append(limiter.bound)
        return history

    limiter = Limiter(most)
    history = asyncio.run(bounds())
    assert all(1 <= bound <= most for bound in history)
    assert all(abs(later - earlier) <= 1 for earlier, later in pairwise(history))
