"""An event loop on a separate thread, for all coroutines of a session."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio
    import concurrent.futures

__all__ = ["LoopFuture", "LoopThread", "NoLoop"]

T = TypeVar("T")

MEANWHILE_S = 0.5
"""Seconds after which a waiting thread wakes up to handle signals and to call ``meanwhile``."""

PATIENCE_S = 5.0
"""Seconds to wait for the end of cancelled coroutines, and then for the last coroutine."""


class LoopFuture(Generic[T]):
    """The future result of a coroutine on the loop of a `LoopThread`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        make: Callable[[], Awaitable[T]],
        meanwhile: Callable[[], object] | None = None,
    ) -> None:
        self._loop = loop
        self._coroutine = _catch(make)
        self._meanwhile = meanwhile
        self._future: concurrent.futures.Future[tuple[T | None, BaseException | None]] | None = None

    def launch(self) -> concurrent.futures.Future[tuple[T | None, BaseException | None]]:
        """Start the coroutine if it has not started yet."""
        import asyncio

        if self._future is None:
            self._future = asyncio.run_coroutine_threadsafe(self._coroutine, self._loop)
        return self._future

    @property
    def done(self) -> bool:
        """Whether the coroutine has ended."""
        return self._future is not None and self._future.done()

    def result(self, interrupted: Callable[[], object] | None = None) -> T:
        """Wait for the coroutine, and return its result or raise its exception.

        If the waiting ends with another exception, cancel the coroutine. Before that, call ``interrupted`` if the
        exception is a `KeyboardInterrupt`.
        """
        try:
            from concurrent.futures import TimeoutError as NotYetError

            future = self.launch()
            while True:  # a signal that another thread has taken is handled only when this one wakes
                with suppress(NotYetError):
                    result, error = future.result(MEANWHILE_S)
                    break
                if self._meanwhile is not None:
                    self._meanwhile()
        except BaseException as end:  # at any point, also before there is a future to cancel
            if interrupted is not None and isinstance(end, KeyboardInterrupt):
                interrupted()
            self.cancel()
            raise
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    def cancel(self, *others: LoopFuture[Any]) -> None:
        """Cancel the coroutine and ``others`` in the same step of their loop; ended ones stay as they are."""
        if not self._loop.is_closed():
            coroutines = {running._coroutine for running in (self, *others)}
            self._loop.call_soon_threadsafe(_cancel, coroutines)


class NoLoop:
    """Runs coroutines without an event loop: if every call is replayed, a coroutine never waits."""

    waits = False

    def run(self, awaitable: Awaitable[T]) -> T:
        """Return the result of ``awaitable`` or raise its exception; raise `RuntimeError` if it waits."""
        steps = awaitable.__await__()
        try:
            next(steps)
        except StopIteration as done:
            result: T = done.value
            return result
        steps.close()
        raise RuntimeError("a replayed call waited for something else than its recording")


class LoopThread:
    """An event loop that lives longer than single calls, because clients keep their connections on it.

    The thread starts with the first coroutine and ends with `close`.

    Args:
        meanwhile: function that a thread calls regularly while it waits for a coroutine.
    """

    waits = True

    def __init__(self, meanwhile: Callable[[], object] | None = None) -> None:
        self._meanwhile = meanwhile
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self, make: Callable[[], Awaitable[T]]) -> LoopFuture[T]:
        """Call ``make`` on the loop, start its coroutine, and return its future result.

        If it is cancelled before its first step, ``make`` is not called, so no coroutine remains without being awaited.
        """
        running = LoopFuture(self._start_once(), make, self._meanwhile)
        running.launch()
        return running

    def run(self, awaitable: Awaitable[T]) -> T:
        """Await ``awaitable`` on the loop and return its result or raise its exception.

        An interrupt of the waiting thread cancels it.
        """
        return LoopFuture(self._start_once(), lambda: awaitable, self._meanwhile).result()

    async def await_on_loop(self, make: Callable[[], Awaitable[T]]) -> T:
        """Await the coroutine of ``make`` on this loop, and return its result; the caller may run on another loop."""
        import asyncio

        if self._start_once() is asyncio.get_running_loop():
            return await make()
        result, error = await asyncio.wrap_future(self.start(make).launch())
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    def close(self, last: Callable[[], Awaitable[object]] | None = None) -> None:
        """Cancel everything that still runs on the loop, await ``last``, and end the thread.

        If a coroutine ignores its cancellation, stop waiting after a few seconds; the thread ends with the process.
        """
        if self._loop is None or self._thread is None:
            return
        import asyncio

        asyncio.run_coroutine_threadsafe(_end(last), self._loop)
        self._thread.join(3 * PATIENCE_S)
        self._loop = self._thread = None

    def _start_once(self) -> asyncio.AbstractEventLoop:
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
    """Holds the coroutines that other threads create for a loop, until each has started.

    litellm creates the coroutine of every call in a thread. If the call is cancelled at that moment, nobody awaits the
    coroutine, and Python would warn when it is garbage-collected. This class holds it and closes it at the end.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._coroutines: list[Coroutine[Any, Any, Any]] = []
        self._is_closed = False
        self._submit = loop.run_in_executor
        loop.run_in_executor = self._run  # type: ignore[assignment,method-assign]

    def close(self) -> None:
        """Close the coroutines that never started, and those that threads still create."""
        self._is_closed = True
        for coroutine in self._coroutines:
            if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
                coroutine.close()

    def _run(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        self._coroutines = [c for c in self._coroutines if inspect.getcoroutinestate(c) == inspect.CORO_CREATED]
        return self._submit(executor, self._call, func, *args)

    def _call(self, func: Callable[..., Any], *args: Any) -> Any:
        result = func(*args)
        if inspect.iscoroutine(result):
            self._coroutines.append(result)
            if self._is_closed:
                result.close()
        return result


async def _catch(make: Callable[[], Awaitable[T]]) -> tuple[T | None, BaseException | None]:
    """Return a result or an exception, because some exceptions would end the loop, and waiting threads would hang."""
    from asyncio import CancelledError

    try:
        return await make(), None
    except (Exception, CancelledError, SystemExit, KeyboardInterrupt) as error:
        return None, error


def _cancel(coroutines: Collection[object]) -> None:
    """Cancel the tasks of coroutines; call this on the loop that runs them."""
    import asyncio

    for task in asyncio.all_tasks():
        if task.get_coro() in coroutines:
            task.cancel()


async def _end(last: Callable[[], Awaitable[object]] | None) -> None:
    import asyncio

    pending = asyncio.all_tasks() - {asyncio.current_task()}
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending, timeout=PATIENCE_S)
    if last is not None:
        with suppress(Exception):  # if it fails, the resource ends with the process
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
