"""Threads that sync systems and retrievers run in, each given up with the call that it is at."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from queue import SimpleQueue

__all__ = ["Bound", "Threads"]

T = TypeVar("T")

_Job = tuple[Callable[[], object], "asyncio.Future[tuple[Any, BaseException | None]]"]


class Threads:
    """As many threads as there are calls at a time; they do not outlive the process.

    A call that is cancelled goes on in its thread, as nothing can stop it, but nobody waits for it any more, not even
    the end of the process: a standard pool would.
    """

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[_Job | None]] = []

    async def run(self, call: Callable[[], T]) -> T:
        """Return what ``call`` returns or raise what it raises, called in a thread with the context of this one."""
        import asyncio

        jobs = self._idle.pop() if self._idle else _started()
        done: asyncio.Future[tuple[T, BaseException | None]] = asyncio.get_running_loop().create_future()
        context = contextvars.copy_context()
        jobs.put((lambda: context.run(call), done))
        try:
            value, error = await done
        except BaseException:
            jobs.put(None)
            raise
        self._idle.append(jobs)
        if error is not None:
            raise error
        return value

    def close(self) -> None:
        """Let the threads go that are not at a call."""
        while self._idle:
            self._idle.pop().put(None)

    def __del__(self) -> None:
        self.close()


class Bound:
    """How many calls are in flight at a time, and the threads of the sync ones."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.threads = Threads()
        self._slots: asyncio.Semaphore | None = None

    @property
    def slots(self) -> asyncio.Semaphore:
        """The semaphore of the loop that runs."""
        import asyncio

        if self._slots is None:
            self._slots = asyncio.Semaphore(self.most)
        return self._slots


def _started() -> SimpleQueue[_Job | None]:
    """Return what a new thread takes its calls from."""
    import threading
    from queue import SimpleQueue

    jobs: SimpleQueue[_Job | None] = SimpleQueue()
    threading.Thread(target=_work, args=(jobs,), name="rageval-system", daemon=True).start()
    return jobs


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        call, done = job
        try:
            result: tuple[object, BaseException | None] = call(), None
        except BaseException as error:  # it is raised where the result is awaited
            result = None, error
        with suppress(RuntimeError):  # of a loop that is closed
            done.get_loop().call_soon_threadsafe(_settle, done, result)
        del job, call, done, result  # a thread that waits keeps nothing alive


def _settle(done: asyncio.Future[tuple[Any, BaseException | None]], result: tuple[Any, BaseException | None]) -> None:
    if not done.done():
        done.set_result(result)
