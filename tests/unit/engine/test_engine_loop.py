"""The event loop on a separate thread."""

from __future__ import annotations

import asyncio
import inspect
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Generator, Iterator

import pytest

from pytest_rageval.engine import loop as loops
from pytest_rageval.engine.loop import LoopThread, NoLoop

WAIT = 10.0  # seconds; a longer wait is a failure


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


def loop_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "rageval-loop"]


async def answer(value: str) -> str:
    await asyncio.sleep(0)
    return value


def test_a_coroutine_gives_its_result(loop: LoopThread) -> None:
    assert loop.run(answer("yes")) == "yes"


def test_a_waiting_thread_calls_its_callback_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MEANWHILE_S", 0.001)
    called, threads = threading.Event(), list[threading.Thread]()

    def record_thread() -> None:
        threads.append(threading.current_thread())
        called.set()

    async def slow() -> str:
        while not called.is_set():
            await asyncio.sleep(0.001)
        return "late"

    thread = LoopThread(record_thread)
    assert thread.run(slow()) == "late"
    called.clear()
    assert thread.start(slow).result() == "late"
    thread.close()
    assert set(threads) == {threading.current_thread()}


def test_anything_that_can_be_awaited_is_run(loop: LoopThread) -> None:
    class Later:
        def __await__(self) -> Generator[object, None, str]:
            yield from asyncio.sleep(0).__await__()
            return "later"

    assert loop.run(Later()) == "later"


def test_threads_that_start_together_share_one_loop(loop: LoopThread) -> None:
    async def loop_id() -> int:
        return id(asyncio.get_running_loop())

    barrier, loop_ids = threading.Barrier(8), []

    def ask() -> None:
        barrier.wait()
        loop_ids.append(loop.run(loop_id()))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loop_ids) == 8
    assert len(set(loop_ids)) == 1


def test_the_thread_starts_with_the_first_coroutine(loop: LoopThread) -> None:
    assert loop_threads() == []
    loop.run(answer(""))
    assert loop_threads() == ["rageval-loop"]


def test_every_coroutine_runs_on_the_same_loop_of_the_same_thread(loop: LoopThread) -> None:
    async def place() -> tuple[int, int]:
        return id(asyncio.get_running_loop()), threading.get_ident()

    first = loop.run(place())
    assert loop.run(place()) == first
    assert first[1] != threading.get_ident()


def test_an_object_of_the_loop_can_be_used_by_a_later_call(loop: LoopThread) -> None:
    async def make() -> asyncio.Queue[int]:
        queue: asyncio.Queue[int] = asyncio.Queue()
        task = asyncio.get_running_loop().call_later(0.01, queue.put_nowait, 7)
        assert not task.cancelled()
        return queue

    async def take(queue: asyncio.Queue[int]) -> int:
        return await asyncio.wait_for(queue.get(), WAIT)

    assert loop.run(take(loop.run(make()))) == 7


@pytest.mark.parametrize("error", [ValueError("bad"), LookupError(), pytest.skip.Exception("not now"), SystemExit(3)])
def test_an_exception_is_raised_in_the_waiting_thread(loop: LoopThread, error: BaseException) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        loop.run(fail())
    assert caught.value is error
    assert loop.run(answer("still alive")) == "still alive"


@pytest.mark.skipif(sys.platform == "win32", reason="a thread cannot be sent a signal")
@pytest.mark.parametrize(
    "receiver", ["the waiting thread", "the loop's thread"]
)  # the operating system may choose either thread
def test_an_interrupt_of_the_waiting_thread_cancels_the_coroutine(loop: LoopThread, receiver: str) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread is interrupted")
    cancelled = threading.Event()

    async def wait() -> None:
        thread = threading.main_thread() if receiver == "the waiting thread" else threading.current_thread()
        signal.pthread_kill(thread.ident or 0, signal.SIGINT)
        try:
            await asyncio.sleep(WAIT)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(KeyboardInterrupt):
        loop.run(wait())
    assert cancelled.wait(WAIT)
    assert loop.run(answer("still alive")) == "still alive"


def test_closing_cancels_running_coroutines_and_ends_the_thread(loop: LoopThread) -> None:
    ends: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.sleep(WAIT)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            ends.append("cancelled")
            raise

    async def generator() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            ends.append("closed")

    references: list[object] = []

    async def start() -> None:
        values = generator()
        references.extend([asyncio.create_task(endless()), values, await anext(values)])
        await asyncio.sleep(0)

    loop.run(start())
    loop.close()
    assert ends == ["cancelled", "closed"]
    assert loop_threads() == []


def test_closing_again_or_before_the_start_does_nothing() -> None:
    loop = LoopThread()
    loop.close()
    loop.run(answer(""))
    loop.close()
    loop.close()
    assert loop_threads() == []


def test_a_closed_loop_starts_again(loop: LoopThread) -> None:
    loop.run(answer(""))
    loop.close()
    assert loop.run(answer("again")) == "again"


def test_a_coroutine_that_never_waits_needs_no_loop() -> None:
    async def double(number: int) -> int:
        return 2 * number

    async def twice(number: int) -> int:
        return await double(await double(number))

    assert NoLoop().run(twice(3)) == 12


def test_an_exception_is_raised_in_the_caller_without_a_loop() -> None:
    async def broken() -> None:
        raise KeyError("none")

    with pytest.raises(KeyError, match="none"):
        NoLoop().run(broken())


def test_a_replayed_call_that_waits_is_an_error() -> None:
    finalized = []

    class Waiting:
        def __await__(self) -> Generator[None, None, None]:
            try:
                yield
            finally:
                finalized.append(True)

    with pytest.raises(RuntimeError, match="a replayed call waited for something else than its recording"):
        NoLoop().run(Waiting())
    assert finalized == [True]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ready_first", [True, False], ids=["ready", "not ready"])
def test_a_coroutine_from_a_thread_is_closed_if_nobody_awaits_it(ready_first: bool) -> None:
    """Litellm creates coroutines in threads; the waiting task may be cancelled before or after the thread ends."""
    coroutines: list[Coroutine[None, None, str]] = []
    working, go_on = threading.Event(), threading.Event()

    def make() -> Coroutine[None, None, str]:
        working.set()
        assert go_on.wait(WAIT)
        coroutines.append(answer("never"))
        return coroutines[0]

    async def call() -> str:
        return await (await asyncio.get_running_loop().run_in_executor(None, make))

    async def cancelled() -> None:
        task = asyncio.create_task(call())
        await asyncio.to_thread(working.wait, WAIT)
        if ready_first:
            go_on.set()
            while not coroutines:
                time.sleep(0.001)  # blocks the loop, which cannot receive the coroutine
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        go_on.set()

    thread = LoopThread()
    thread.run(cancelled())
    thread.close()
    deadline = time.monotonic() + WAIT
    while not coroutines or inspect.getcoroutinestate(coroutines[0]) != inspect.CORO_CLOSED:
        assert time.monotonic() < deadline, "it is never closed"
        time.sleep(0.001)


def test_a_coroutine_from_a_thread_can_be_awaited(loop: LoopThread) -> None:
    async def call() -> str:
        return await (await asyncio.get_running_loop().run_in_executor(None, answer, "here"))

    assert [loop.run(call()) for _ in range(3)] == ["here"] * 3
