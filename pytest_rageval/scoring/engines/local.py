"""Processes on this machine, which read chunks and return results through pipes."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import IO, NamedTuple, cast

from pytest_rageval.errors import DataError, RagEvalError, SettingError

__all__ = ["LocalEngine"]


class LocalEngine:
    """Applies a function in processes of its own, or in this process if there is one job.

    The processes run this module instead of a fork or the main script: a notebook needs no guard, and no thread is
    copied.

    Args:
        jobs: the number of processes.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def map(self, chunks: Sequence[Path], function: Callable[[bytes], bytes]) -> Iterator[tuple[Path, bytes]]:
        """Yield each chunk with its result, in the order in which they end."""
        if self._jobs == 1 or len(chunks) < 2:
            yield from ((chunk, function(chunk.read_bytes())) for chunk in chunks)
            return
        waiting = list(reversed(chunks))
        with DefaultSelector() as ready:
            workers = [_Worker(function) for _ in range(min(self._jobs, len(chunks)))]
            try:
                for worker in workers:
                    worker.start(waiting.pop())
                    ready.register(worker.replies, EVENT_READ, worker)
                while ready.get_map():
                    for key, _ in ready.select():
                        worker = cast("_Worker", key.data)
                        yield worker.chunk, worker.result()
                        if waiting:
                            worker.start(waiting.pop())
                        else:
                            ready.unregister(worker.replies)
            finally:
                for worker in workers:
                    worker.close()


class _Fault(NamedTuple):
    """A `DataError`, which cannot be pickled."""

    where: str
    problem: str
    code: str


class _Worker:
    """A process that applies one function to chunk after chunk."""

    chunk: Path

    def __init__(self, function: Callable[[bytes], bytes]) -> None:
        paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(  # noqa: S603 - this module
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self._orders, self.replies = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._send(function)

    def start(self, chunk: Path) -> None:
        """Begin to apply the function to a chunk."""
        self.chunk = chunk
        self._send(chunk)

    def result(self) -> bytes:
        """Return the result for the chunk, or raise the exception of the function."""
        try:
            result = pickle.load(self.replies)  # noqa: S301 - from our own process
        except EOFError:
            status = self._process.wait()
            raise SettingError(
                f"a process that scored {self.chunk.name} ended with status {status}; run the command again, "
                "perhaps with fewer --jobs if memory is short"
            ) from None
        if isinstance(result, _Fault):
            raise DataError(result.where, result.problem, code=result.code)
        return cast("bytes", result)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._orders.close()
        self.replies.close()

    def _send(self, order: object) -> None:
        try:
            pickle.dump(order, self._orders)
            self._orders.flush()
        except BrokenPipeError:  # the process died; `result` says so
            return


def _serve(orders: IO[bytes], replies: IO[bytes]) -> None:
    """Apply the first order, a function, to all further ones, which are paths of chunks."""
    gc.disable()  # what a chunk takes is freed by its reference counts
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes, and the first one ends the others
    function: Callable[[bytes], bytes] = pickle.load(orders)  # noqa: S301 - from our own process
    with suppress(EOFError, BrokenPipeError):  # the first process ended
        while True:
            chunk: Path = pickle.load(orders)  # noqa: S301 - from our own process
            reply: bytes | _Fault
            try:
                reply = function(chunk.read_bytes())
            except DataError as error:
                reply = _Fault(error.where, error.problem, error.code)
            except RagEvalError as error:
                reply = _Fault(chunk.name, str(error), error.code)
            pickle.dump(reply, replies)
            replies.flush()


if __name__ == "__main__":
    # The class that is sent has to be that of the importable module, not of `__main__`.
    from pytest_rageval.scoring.engines.local import _serve as serve

    serve(sys.stdin.buffer, sys.stdout.buffer)
