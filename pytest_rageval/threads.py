"""Threads for sync systems, retrievers and tools; cancelling a call abandons its thread."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from queue import SimpleQueue

__all__ = ["STARTUP", "CallLimit", "Threads"]

T = TypeVar("T")


class _Startup(threading.local):
    seconds = 0.0


STARTUP = _Startup()
"""Seconds that this thread waited for services of this package to start, for instance for a server of tools."""

_Job = tuple[Callable[[], object], "asyncio.Future[tuple[Any, BaseException | None]]"]


class Threads:
    """A pool with one daemon thread per concurrent call.

    Nothing can stop a running call. A cancelled call continues in its thread, but nobody waits for it: the process can
    end. With a pool of the standard library, the end of the process would wait.
    """

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[_Job | None]] = []

    async def run(self, call: Callable[[], T]) -> T:
        """Run ``call`` in a thread with a copy of the current context; return its value or raise its error."""
        import asyncio

        jobs = self._idle.pop() if self._idle else _start_thread()
        future: asyncio.Future[tuple[T, BaseException | None]] = asyncio.get_running_loop().create_future()
        context = contextvars.copy_context()
        jobs.put((lambda: context.run(call), future))
        try:
            value, error = await future
        except BaseException:
            jobs.put(None)
            raise
        self._idle.append(jobs)
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """End the idle threads."""
        while self._idle:
            self._idle.pop().put(None)

    def __del__(self) -> None:
        self.close()


class CallLimit:
    """Limits the number of concurrent calls, and has the threads for sync calls.

    Args:
        max_calls: the maximum number of concurrent calls.
    """

    def __init__(self, max_calls: int) -> None:
        self.max_calls = max_calls
        self.threads = Threads()
        self._slots: asyncio.Semaphore | None = None

    @property
    def slots(self) -> asyncio.Semaphore:
        """The semaphore of the running event loop."""
        import asyncio

        if self._slots is None:
            self._slots = asyncio.Semaphore(self.max_calls)
        return self._slots


def _start_thread() -> SimpleQueue[_Job | None]:
    """Start a thread and return its queue of calls."""
    from queue import SimpleQueue

    jobs: SimpleQueue[_Job | None] = SimpleQueue()
    threading.Thread(target=_work, args=(jobs,), name="rageval-system", daemon=True).start()
    return jobs


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    """Run the calls of a queue until it yields None."""
    while (job := jobs.get()) is not None:
        call, future = job
        try:
            result: tuple[object, BaseException | None] = call(), None
        except BaseException as error:  # raised again in `Threads.run`
            result = None, error
        with suppress(RuntimeError):  # the loop is closed
            future.get_loop().call_soon_threadsafe(_set_result, future, result)
        del job, call, future, result  # an idle thread must not keep objects alive


def _set_result(
    future: asyncio.Future[tuple[Any, BaseException | None]], result: tuple[Any, BaseException | None]
) -> None:
    if not future.done():
        future.set_result(result)
