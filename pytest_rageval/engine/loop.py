"""One event loop on a thread of its own, for systems that are coroutines."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio
    import threading

__all__ = ["LoopThread"]

T = TypeVar("T")

PATIENCE_S = 5.0
"""Seconds that cancelled coroutines are given to end."""


class LoopThread:
    """An event loop that outlives single calls, so that clients keep their connections.

    The thread starts with the first coroutine and ends with `close`.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, awaitable: Awaitable[T]) -> T:
        """Await ``awaitable`` on the loop and return its result or raise its exception.

        An interrupt of the waiting thread cancels it.
        """
        import asyncio

        loop, contained = self._started(), _contained(awaitable)
        try:
            result, error = asyncio.run_coroutine_threadsafe(contained, loop).result()
        except BaseException:  # at any point, also before there is a future to cancel
            loop.call_soon_threadsafe(_cancel, contained)
            raise
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    def close(self) -> None:
        """Stop the loop, cancel what still runs on it, and end the thread.

        What swallows its cancellation is left behind after a few seconds; the thread does not outlive the process.
        """
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2 * PATIENCE_S)
        self._loop = self._thread = None

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            import asyncio
            import threading

            loop = self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(loop,), name="rageval-loop", daemon=True)
            self._thread.start()
        return self._loop


async def _contained(awaitable: Awaitable[T]) -> tuple[T | None, BaseException | None]:
    """Hand an exception over with its traceback; some would end the loop, and leave who waits for ever."""
    try:
        return await awaitable, None
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return None, error


def _cancel(coroutine: object) -> None:
    """Cancel the task of a coroutine, on the loop that runs it."""
    import asyncio

    for task in asyncio.all_tasks():
        if task.get_coro() is coroutine:
            task.cancel()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    asyncio.set_event_loop(loop)
    loop.run_forever()
    pending = asyncio.all_tasks(loop)
    for task in pending:
        task.cancel()
    if pending:
        loop.run_until_complete(asyncio.wait(pending, timeout=PATIENCE_S))
    loop.run_until_complete(loop.shutdown_asyncgens())
    if not asyncio.all_tasks(loop):
        loop.close()
