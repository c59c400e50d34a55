"""Usage meters: sums of calls, and the scope that a call is charged to."""

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


def test_recordings_are_listed_once_in_the_order_of_their_use() -> None:
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


def test_a_call_outside_a_scope_is_charged_to_the_outside_meter() -> None:
    outside = Meter()
    assert current(outside).meter is outside


def test_a_task_started_before_the_test_charges_the_test_of_its_thread() -> None:
    async def observe_scopes() -> list[Scope]:
        async def runner() -> None:  # keeps the context of its creation, like the runner of anyio
            while await requests.get():
                scopes.append(current(outside))

        requests: asyncio.Queue[bool] = asyncio.Queue()
        scopes: list[Scope] = []
        task = asyncio.create_task(runner())
        for scope in (one, two, None):
            TEST.scope = scope
            SCOPE.set(scope)
            await requests.put(True)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            scopes.append(await asyncio.to_thread(lambda: current(outside)))
        await requests.put(False)
        await task
        return scopes

    outside, one, two = Meter(), Scope(Meter()), Scope(Meter(), repeat=2)
    assert asyncio.run(observe_scopes()) == [one, one, two, two, Scope(outside), Scope(outside)]


def test_calls_after_a_closed_meter_count_in_the_next_scope() -> None:
    async def observe_scopes() -> list[Scope]:
        SCOPE.set(closed_scope)
        scopes = [current(outside)]
        closed_scope.meter.closed = True
        scopes.append(current(outside))
        TEST.scope = next_scope
        scopes.append(current(outside))
        TEST.scope = None
        return scopes

    outside, closed_scope, next_scope = Meter(), Scope(Meter()), Scope(Meter())
    assert asyncio.run(observe_scopes()) == [closed_scope, Scope(outside), next_scope]


def test_only_tasks_and_threads_of_a_case_inherit_its_scope() -> None:
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
