"""One event loop on a thread of its own, for everything that is awaited."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio
    import concurrent.futures

__all__ = ["LoopThread", "NoLoop", "Running"]

T = TypeVar("T")

MEANWHILE_S = 0.5
"""Seconds between two times that a thread that waits is given something else to do."""

PATIENCE_S = 5.0
"""Seconds that cancelled coroutines are given to end, and what comes last after them."""


class Running(Generic[T]):
    """A coroutine that runs, or will, on the loop of a `LoopThread`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        make: Callable[[], Awaitable[T]],
        meanwhile: Callable[[], object] | None = None,
    ) -> None:
        self._loop = loop
        self._contained = _contained(make)
        self._meanwhile = meanwhile
        self._future: concurrent.futures.Future[tuple[T | None, BaseException | None]] | None = None

    def launch(self) -> concurrent.futures.Future[tuple[T | None, BaseException | None]]:
        """Start the coroutine if it has not been started."""
        import asyncio

        if self._future is None:
            self._future = asyncio.run_coroutine_threadsafe(self._contained, self._loop)
        return self._future

    @property
    def done(self) -> bool:
        """Whether the coroutine has ended."""
        return self._future is not None and self._future.done()

    def result(self) -> T:
        """Wait for the coroutine, and return its result or raise its exception.

        An interrupt of the waiting thread cancels it.
        """
        try:
            future = self.launch()
            if self._meanwhile is not None:
                from concurrent.futures import wait

                while not wait((future,), MEANWHILE_S).done:
                    self._meanwhile()
            result, error = future.result()
        except BaseException:  # at any point, also before there is a future to cancel
            self.cancel()
            raise
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    def cancel(self) -> None:
        """Cancel the coroutine; one that has ended stays as it is."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_cancel, self._contained)


class NoLoop:
    """Stands in for a `LoopThread` where every call is replayed: what waits for nothing needs no event loop."""

    waits = False

    def run(self, awaitable: Awaitable[T]) -> T:
        """Return the result of ``awaitable`` or raise its exception; one that waits is a `RuntimeError`."""
        steps = awaitable.__await__()
        try:
            next(steps)
        except StopIteration as done:
            result: T = done.value
            return result
        steps.close()
        raise RuntimeError("a replayed call waited for something else than its recording")


class LoopThread:
    """An event loop that outlives single calls, so that clients keep their connections.

    The thread starts with the first coroutine and ends with `close`.

    Args:
        meanwhile: what a thread does now and then that waits for a coroutine.
    """

    waits = True

    def __init__(self, meanwhile: Callable[[], object] | None = None) -> None:
        self._meanwhile = meanwhile
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self, make: Callable[[], Awaitable[T]]) -> Running[T]:
        """Start what ``make`` returns, called on the loop, and return it as it runs.

        What is cancelled before its first step was never made, so that no coroutine is left that nobody awaited.
        """
        running = Running(self._started(), make, self._meanwhile)
        running.launch()
        return running

    def run(self, awaitable: Awaitable[T]) -> T:
        """Await ``awaitable`` on the loop and return its result or raise its exception.

        An interrupt of the waiting thread cancels it.
        """
        return Running(self._started(), lambda: awaitable, self._meanwhile).result()

    async def awaited(self, make: Callable[[], Awaitable[T]]) -> T:
        """Return the result of what ``make`` returns, awaited on the loop whichever loop this coroutine runs on."""
        import asyncio

        if self._started() is asyncio.get_running_loop():
            return await make()
        result, error = await asyncio.wrap_future(self.start(make).launch())
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    def close(self, last: Callable[[], Awaitable[object]] | None = None) -> None:
        """Cancel what still runs on the loop, await ``last``, and end the thread.

        What swallows its cancellation is left behind after a few seconds; the thread does not outlive the process.
        """
        if self._loop is None or self._thread is None:
            return
        import asyncio

        asyncio.run_coroutine_threadsafe(_ending(last), self._loop)
        self._thread.join(3 * PATIENCE_S)
        self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                import asyncio

                loop = self._loop = asyncio.new_event_loop()
                unstarted = _Unstarted(loop)
                args = (loop, unstarted)
                self._thread = threading.Thread(target=_serve, args=args, name="rageval-loop", daemon=True)
                self._thread.start()
            return self._loop


class _Unstarted:
    """The coroutines that threads make for those who await them on a loop, until each is started.

    litellm has a thread make the coroutine of every call. Where the call is cancelled just then nobody awaits it, and
    Python would warn of that when it is dropped; here it is kept, and closed at the end.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._made: list[Coroutine[Any, Any, Any]] = []
        self._ended = False
        self._submit = loop.run_in_executor
        loop.run_in_executor = self._run  # type: ignore[assignment,method-assign]

    def close(self) -> None:
        """Close what was never started, and what threads still make."""
        self._ended = True
        for coroutine in self._made:
            if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
                coroutine.close()

    def _run(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        self._made = [each for each in self._made if inspect.getcoroutinestate(each) == inspect.CORO_CREATED]
        return self._submit(executor, self._call, func, *args)

    def _call(self, func: Callable[..., Any], *args: Any) -> Any:
        made = func(*args)
        if inspect.iscoroutine(made):
            self._made.append(made)
            if self._ended:
                made.close()
        return made


async def _contained(make: Callable[[], Awaitable[T]]) -> tuple[T | None, BaseException | None]:
    """Hand an exception over with its traceback; some would end the loop, and leave who waits for ever."""
    from asyncio import CancelledError

    try:
        return await make(), None
    except (Exception, CancelledError, SystemExit, KeyboardInterrupt) as error:
        return None, error


def _cancel(coroutine: object) -> None:
    """Cancel the task of a coroutine, on the loop that runs it."""
    import asyncio

    for task in asyncio.all_tasks():
        if task.get_coro() is coroutine:
            task.cancel()


async def _ending(last: Callable[[], Awaitable[object]] | None) -> None:
    import asyncio

    pending = asyncio.all_tasks() - {asyncio.current_task()}
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending, timeout=PATIENCE_S)
    if last is not None:
        with suppress(Exception):  # what cannot be closed ends with the process
            await asyncio.wait_for(last(), PATIENCE_S)
    asyncio.get_running_loop().stop()


def _serve(loop: asyncio.AbstractEventLoop, unstarted: _Unstarted) -> None:
    import asyncio

    asyncio.set_event_loop(loop)
    loop.run_forever()
    unstarted.close()
    loop.run_until_complete(loop.shutdown_asyncgens())
    if not asyncio.all_tasks(loop):
        loop.close()
