"""Score chunks in processes on this machine; they return results through pipes."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import IO, cast

from pytest_rageval.errors import SettingError
from pytest_rageval.scoring.engines.function import ChunkFunction, reply_of, result_of

__all__ = ["LocalEngine"]


_LENGTH = 8
"""Bytes of the length before each message."""


class LocalEngine:
    """Applies a function in processes of its own, or in this process if there is one job.

    The processes run this module. They do not run the main script, so a notebook needs no ``__main__`` guard, and they
    are not forks, so no thread is copied.

    Args:
        jobs: the number of processes; None for one on each core.
        address: must be None, because there is no cluster.

    Raises:
        SettingError: an address is set.
    """

    addresses: Sequence[str] = ()

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        if address is not None:
            raise SettingError("--address is the address of a Ray cluster; add --engine ray, or leave it out")
        self._jobs = jobs or os.cpu_count() or 1

    def map(self, chunks: Sequence[Path], function: ChunkFunction) -> Iterator[tuple[Path, bytes]]:
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


class _Worker:
    """A process that applies one function to one chunk after another."""

    chunk: Path

    def __init__(self, function: ChunkFunction) -> None:
        paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(  # noqa: S603 - this module
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self._requests, self.replies = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._send(function.name.encode(), function.argument)

    def start(self, chunk: Path) -> None:
        """Begin to apply the function to a chunk."""
        self.chunk = chunk
        self._send(os.fsencode(chunk))

    def result(self) -> bytes:
        """Return the result for the chunk, or raise the exception of the function."""
        reply = _read_message(self.replies)
        if reply is None:
            status = self._process.wait()
            raise SettingError(
                f"a process that scored {self.chunk.name} ended with status {status}; run the command again, "
                "perhaps with fewer --jobs if memory is short"
            )
        return result_of(reply)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._requests.close()
        self.replies.close()

    def _send(self, *messages: bytes) -> None:
        with suppress(BrokenPipeError):  # the process died; `result` reports it
            for message in messages:
                _write_message(self._requests, message)


def _write_message(stream: IO[bytes], message: bytes) -> None:
    """Write the length of a message, then the message."""
    stream.write(len(message).to_bytes(_LENGTH, "big"))
    stream.write(message)
    stream.flush()


def _read_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message; None if the stream ends before the message does."""
    length = stream.read(_LENGTH)
    size = int.from_bytes(length, "big")
    message = stream.read(size) if len(length) == _LENGTH else b""
    return message if len(length) == _LENGTH and len(message) == size else None


def _serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Apply a function to chunks: the first two messages are its name and argument, the others are chunk paths."""
    gc.disable()  # reference counts free the memory of each chunk
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C and kills its workers
    name, argument = _read_message(requests), _read_message(requests)
    if name is None or argument is None:
        return
    function = ChunkFunction(name.decode(), argument)
    with suppress(BrokenPipeError):  # the main process ended
        while (chunk := _read_message(requests)) is not None:
            _write_message(replies, reply_of(function, Path(os.fsdecode(chunk)).read_bytes()))


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
