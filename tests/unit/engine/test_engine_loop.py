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

WAIT = 10.0  # seconds after which something has gone wrong


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


def running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "rageval-loop"]


async def answer(value: str) -> str:
    await asyncio.sleep(0)
    return value


def test_a_coroutine_gives_its_result(loop: LoopThread) -> None:
    assert loop.run(answer("yes")) == "yes"


def test_a_waiting_thread_calls_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MEANWHILE_S", 0.001)
    enough, threads = threading.Event(), list[threading.Thread]()

    def look() -> None:
        threads.append(threading.current_thread())
        enough.set()

    async def slow() -> str:
        while not enough.is_set():
            await asyncio.sleep(0.001)
        return "late"

    thread = LoopThread(look)
    assert thread.run(slow()) == "late"
    enough.clear()
    assert thread.start(slow).result() == "late"
    thread.close()
    assert set(threads) == {threading.current_thread()}


def test_anything_that_can_be_awaited_is_run(loop: LoopThread) -> None:
    class Later:
        def __await__(self) -> Generator[object, None, str]:
            yield from asyncio.sleep(0).__await__()
            return "later"

    assert loop.run(Later()) == "later"


def test_threads_that_come_at_once_share_one_loop(loop: LoopThread) -> None:
    async def running() -> int:
        return id(asyncio.get_running_loop())

    at_once, found = threading.Barrier(8), []

    def ask() -> None:
        at_once.wait()
        found.append(loop.run(running()))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_nothing_is_started_before_the_first_coroutine(loop: LoopThread) -> None:
    assert running() == []
    loop.run(answer(""))
    assert running() == ["rageval-loop"]


def test_every_coroutine_runs_on_the_same_loop_of_the_same_thread(loop: LoopThread) -> None:
    async def place() -> tuple[int, int]:
        return id(asyncio.get_running_loop()), threading.get_ident()

    first = loop.run(place())
    assert loop.run(place()) == first
    assert first[1] != threading.get_ident()


def test_a_client_that_lives_on_the_loop_outlives_one_call(loop: LoopThread) -> None:
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
@pytest.mark.parametrize("taken_by", ["the waiting thread", "the loop's thread"])  # the system may choose any
def test_an_interrupt_of_the_waiting_thread_cancels_the_coroutine(loop: LoopThread, taken_by: str) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread is interrupted")
    cancelled = threading.Event()

    async def wait() -> None:
        taker = threading.main_thread() if taken_by == "the waiting thread" else threading.current_thread()
        signal.pthread_kill(taker.ident or 0, signal.SIGINT)
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

    async def leftover() -> None:
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

    kept: list[object] = []

    async def start() -> None:
        values = generator()
        kept.extend([asyncio.create_task(leftover()), values, await anext(values)])
        await asyncio.sleep(0)

    loop.run(start())
    loop.close()
    assert ends == ["cancelled", "closed"]
    assert running() == []


def test_closing_twice_or_before_the_start_does_nothing() -> None:
    loop = LoopThread()
    loop.close()
    loop.run(answer(""))
    loop.close()
    loop.close()
    assert running() == []


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


def test_without_a_loop_an_exception_is_raised_in_the_caller() -> None:
    async def broken() -> None:
        raise KeyError("none")

    with pytest.raises(KeyError, match="none"):
        NoLoop().run(broken())


def test_a_replayed_call_that_waits_is_an_error() -> None:
    closed = []

    class Waiting:
        def __await__(self) -> Generator[None, None, None]:
            try:
                yield
            finally:
                closed.append(True)

    with pytest.raises(RuntimeError, match="a replayed call waited for something else than its recording"):
        NoLoop().run(Waiting())
    assert closed == [True]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("made_first", [True, False], ids=["made", "being made"])
def test_a_coroutine_that_a_thread_made_for_nobody_is_closed(made_first: bool) -> None:
    """As litellm has calls made: who awaits the thread may be cancelled while it works, or just as it ends."""
    made: list[Coroutine[None, None, str]] = []
    working, go_on = threading.Event(), threading.Event()

    def make() -> Coroutine[None, None, str]:
        working.set()
        assert go_on.wait(WAIT)
        made.append(answer("never"))
        return made[0]

    async def call() -> str:
        return await (await asyncio.get_running_loop().run_in_executor(None, make))

    async def cancelled() -> None:
        task = asyncio.create_task(call())
        await asyncio.to_thread(working.wait, WAIT)
        if made_first:
            go_on.set()
            while not made:
                time.sleep(0.001)  # what the thread made cannot arrive meanwhile
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        go_on.set()

    thread = LoopThread()
    thread.run(cancelled())
    thread.close()
    deadline = time.monotonic() + WAIT
    while not made or inspect.getcoroutinestate(made[0]) != inspect.CORO_CLOSED:
        assert time.monotonic() < deadline, "it is never closed"
        time.sleep(0.001)


def test_a_coroutine_from_a_thread_is_awaited(loop: LoopThread) -> None:
    async def call() -> str:
        return await (await asyncio.get_running_loop().run_in_executor(None, answer, "here"))

    assert [loop.run(call()) for _ in range(3)] == ["here"] * 3
