from __future__ import annotations

import asyncio
import threading

from pytest_rageval.llm.client.usage_meter import SCOPE, TEST, Meter, Scope, current
from pytest_rageval.model.calls import Calls


def test_a_meter_sums_its_charges() -> None:
    meter = Meter()
    meter.add(Calls(1, 0, 3, 10, 2, 0.5, 0.5))
    meter.add(Calls(1, 1, 0, 7, 1, 0.25, 0.0))
    assert meter.calls == Calls(2, 1, 3, 17, 3, 0.75, 0.5)


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    meter = Meter()
    meter.add(Calls(calls=1, attempts=1, cost_usd=None, spent_usd=None))
    meter.add(Calls(calls=1, attempts=1, cost_usd=1.0, spent_usd=1.0))
    assert (meter.calls.calls, meter.calls.cost_usd, meter.calls.spent_usd) == (2, None, None)


def test_recordings_are_named_once_in_the_order_of_their_use() -> None:
    meter = Meter()
    for key in ("b", "a", "b", "c"):
        meter.use(key)
    assert meter.keys == ("b", "a", "c")


def test_threads_that_charge_one_meter_lose_nothing() -> None:
    meter = Meter()

    def charge(name: int) -> None:
        for number in range(500):
            meter.add(Calls(calls=1))
            meter.use(f"{name}-{number % 7}")

    threads = [threading.Thread(target=charge, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert meter.calls.calls == 4000
    assert len(meter.keys) == 56


def test_outside_a_scope_calls_are_metered_and_discarded() -> None:
    assert current().repeat == 1
    assert current().meter is not current().meter


def test_without_a_scope_the_meter_for_that_is_charged() -> None:
    outside = Meter()
    assert current(outside).meter is outside


def test_a_task_of_before_the_test_charges_the_test_of_its_thread() -> None:
    async def asked() -> list[Scope]:
        async def runner() -> None:  # keeps the context in which it was made, as anyio's does
            while await wanted.get():
                told.append(current(outside))

        wanted: asyncio.Queue[bool] = asyncio.Queue()
        told: list[Scope] = []
        task = asyncio.create_task(runner())
        for scope in (one, two, None):
            TEST.scope = scope
            SCOPE.set(scope)
            await wanted.put(True)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            told.append(await asyncio.to_thread(lambda: current(outside)))
        await wanted.put(False)
        await task
        return told

    outside, one, two = Meter(), Scope(Meter()), Scope(Meter(), repeat=2)
    assert asyncio.run(asked()) == [one, one, two, two, Scope(outside), Scope(outside)]


def test_calls_after_a_closed_meter_count_in_the_next_scope() -> None:
    async def asked() -> list[Scope]:
        SCOPE.set(ended)
        told = [current(outside)]
        ended.meter.closed = True
        told.append(current(outside))
        TEST.scope = following
        told.append(current(outside))
        TEST.scope = None
        return told

    outside, ended, following = Meter(), Scope(Meter()), Scope(Meter())
    assert asyncio.run(asked()) == [ended, Scope(outside), following]


def test_a_scope_is_inherited_by_tasks_and_threads_and_by_nobody_else() -> None:
    async def case(scope: Scope) -> list[Scope]:
        SCOPE.set(scope)

        async def inner() -> Scope:
            await asyncio.sleep(0)
            return current()

        return [await asyncio.create_task(inner()), await asyncio.to_thread(current), current()]

    async def both() -> list[list[Scope]]:
        return list(await asyncio.gather(case(one), case(two)))

    one, two = Scope(Meter()), Scope(Meter(), repeat=2)
    assert asyncio.run(both()) == [[one] * 3, [two] * 3]
    assert SCOPE.get() is None


def test_embedding_calls_alone_do_not_count_as_model_calls() -> None:
    meter = Meter()
    meter.add(Calls(calls=1), "embedding")
    assert not meter.asked_model
    meter.add(Calls(calls=1), "model")
    meter.add(Calls(calls=1), "embedding")
    assert meter.asked_model
