"""Calls of systems, in turn and ahead, on the loop and on threads."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.loop import LoopThread
from pytest_rageval.errors import CaseError, SystemContractError
from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope, current
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case, Instance, Query
from pytest_rageval.threads import CallLimit, Threads

CASES = [Case(f"q{n}", Instance(f"q{n}", f"{n}?", (("Paris",),)), None, {}) for n in range(12)]


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


class CountingSystem:
    """A system that counts how many of its answers are in flight."""

    def __init__(self, seconds: float = 0.02) -> None:
        self.in_flight = self.peak = 0
        self.seconds = seconds
        self.threads: set[str] = set()

    def _begin(self) -> None:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.threads.add(threading.current_thread().name)

    async def answer_async(self, query: Query) -> str:
        self._begin()
        await asyncio.sleep(self.seconds)
        self.in_flight -= 1
        return query.question

    def answer_sync(self, query: Query) -> str:
        self._begin()
        time.sleep(self.seconds)
        self.in_flight -= 1
        return query.question


async def all_ahead(answerer: SystemAnswerer) -> list[Answer]:
    return await asyncio.gather(*(answerer.ahead(case) for case in CASES))


@pytest.mark.parametrize("kind", ["async", "sync", "wrapped"])
def test_answers_overlap_within_the_bound(loop: LoopThread, kind: str) -> None:
    system, bound = CountingSystem(), CallLimit(3)
    systems: dict[str, Any] = {
        "async": system.answer_async,
        "sync": system.answer_sync,
        "wrapped": lambda query: system.answer_async(query),
    }
    answerer = SystemAnswerer(systems[kind], "mine", loop, bound)
    assert answerer.overlaps
    answers = loop.run(all_ahead(answerer))
    assert [answer.text for answer in answers] == [f"{n}?" for n in range(12)]
    assert system.peak == 3
    assert system.threads == {"rageval-system" if kind == "sync" else "rageval-loop"}
    for answer in answers:
        assert answer.usage is not None
        assert 0.019 < (answer.usage.latency_s or 0) < 0.15
    bound.threads.close()


def test_sync_systems_with_one_call_at_a_time_do_not_overlap(loop: LoopThread) -> None:
    system = CountingSystem()
    assert not SystemAnswerer(system.answer_sync, "mine", loop, CallLimit(1)).overlaps
    assert not SystemAnswerer(system.answer_sync, "mine", loop).overlaps
    assert not SystemAnswerer(system.answer_sync, "mine", loop, CallLimit(4), light=True).overlaps
    assert SystemAnswerer(system.answer_async, "mine", loop, CallLimit(1)).overlaps


def test_a_light_system_runs_on_the_loop(loop: LoopThread) -> None:
    system = CountingSystem(0)
    loop.run(all_ahead(SystemAnswerer(system.answer_sync, "mine", loop, CallLimit(1), light=True)))
    assert system.threads == {"rageval-loop"}


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_a_failure_is_the_same_ahead_and_in_turn(loop: LoopThread, kind: str) -> None:
    def broken(query: Query) -> str:
        raise ValueError("no key")

    async def abroken(query: Query) -> str:
        raise ValueError("no key")

    answerer = SystemAnswerer(broken if kind == "sync" else abroken, "mine", loop, CallLimit(2))
    errors = []
    calls: tuple[Callable[[], Answer], ...] = (lambda: answerer(CASES[0]), lambda: loop.run(answerer.ahead(CASES[0])))
    for ask in calls:
        with pytest.raises(CaseError) as caught:
            ask()
        errors.append((caught.value.kind, str(caught.value)))
    assert errors[0] == errors[1]
    assert errors[0][0] == "system_error"
    answerer = SystemAnswerer(lambda query: 7, "mine", loop, CallLimit(2))  # type: ignore[arg-type]
    with pytest.raises(SystemContractError, match="returned int 7"):
        loop.run(answerer.ahead(CASES[0]))


def test_a_cancelled_answer_is_reported_and_releases_its_slot(loop: LoopThread) -> None:
    bound, system = CallLimit(1), CountingSystem(0)
    hanging = SystemAnswerer(CountingSystem(60).answer_async, "mine", loop, bound)

    async def cancel() -> str:
        task = asyncio.ensure_future(hanging.ahead(CASES[0]))
        await asyncio.sleep(0.01)
        task.cancel()
        try:
            await task
        except CaseError as error:
            return error.kind
        return ""

    assert loop.run(cancel()) == "cancelled"
    assert loop.run(SystemAnswerer(system.answer_async, "mine", loop, bound).ahead(CASES[1])).text == "1?"


def test_the_usage_of_an_answer_is_charged_once(loop: LoopThread) -> None:
    answerer = SystemAnswerer(lambda query: Answer("", usage=Usage(10, 2, 0.5)), "mine", loop, CallLimit(2))
    meter = Meter()

    async def ask() -> None:
        SCOPE.set(Scope(meter))
        await answerer.ahead(CASES[0])

    loop.run(ask())
    assert meter.calls == Calls(1, 0, 1, 10, 2, 0.5, 0.5)


@pytest.mark.parametrize(
    ("answer", "usage"),
    [
        ("Paris", (10, 2, 0.5)),
        (Answer("Paris", usage=Usage(latency_s=9.0)), (10, 2, 0.5)),
        (Answer("Paris", usage=Usage(cost_usd=4.0)), (10, 2, 4.0)),
        (Answer("Paris", usage=Usage(3, 1, 4.0)), (3, 1, 4.0)),
    ],
)
def test_usage_defaults_to_the_calls_of_the_session_models(
    loop: LoopThread, answer: Answer | str, usage: tuple[int, int, float]
) -> None:
    def asks(query: Query) -> Answer | str:
        current().meter.add(Calls(1, 0, 1, 10, 2, 0.5, 0.5))
        return answer

    async def ask() -> Answer:
        SCOPE.set(Scope(Meter()))
        return await SystemAnswerer(asks, "mine", loop, CallLimit(2)).ahead(CASES[0])

    result = loop.run(ask()).usage
    assert result is not None
    assert (result.prompt_tokens, result.completion_tokens, result.cost_usd) == usage


def test_a_thread_is_reused_with_the_context_of_its_caller() -> None:
    where: contextvars.ContextVar[str] = contextvars.ContextVar("where")
    threads, idents = Threads(), set()

    def call() -> str:
        idents.add(threading.get_ident())
        return where.get()

    async def ask(name: str) -> str:
        where.set(name)
        return await threads.run(call)

    async def ask_twice() -> list[str]:
        return [await ask("a"), await ask("b")]

    assert asyncio.run(ask_twice()) == ["a", "b"]
    assert len(idents) == 1
    threads.close()


def test_an_abandoned_call_does_not_block_other_calls_or_the_exit() -> None:
    threads, free, before = Threads(), threading.Event(), set(threading.enumerate())

    async def give_up() -> str:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(threads.run(lambda: free.wait(10)), 0.02)
        return await threads.run(lambda: threading.current_thread().name)

    assert asyncio.run(give_up()) == "rageval-system"
    alive = set(threading.enumerate()) - before
    assert len(alive) == 2
    assert all(thread.daemon for thread in alive)
    free.set()
    threads.close()
    for thread in alive:
        thread.join(5)
        assert not thread.is_alive()


def test_a_waiting_thread_holds_no_reference_to_the_last_result() -> None:
    threads = Threads()

    class Payload:
        pass

    async def ask() -> None:
        payload = Payload()
        await threads.run(lambda: payload)

    def is_payload_alive() -> bool:
        gc.collect()
        return any(type(thing) is Payload for thing in gc.get_objects())

    asyncio.run(ask())
    end = time.monotonic() + 5
    while is_payload_alive() and time.monotonic() < end:  # the thread may still be on its way back to waiting
        time.sleep(0.01)
    assert not is_payload_alive()
    threads.close()


def test_any_exception_of_a_thread_is_raised_in_the_caller() -> None:
    threads = Threads()

    def leave() -> None:
        raise SystemExit(3)

    async def ask() -> None:
        with pytest.raises(SystemExit):
            await threads.run(leave)

    asyncio.run(ask())
    threads.close()
