"""Share answers between the processes of a session, to ask each question only once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.folders import atomic_files
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.codec import decode_answer, encode_answer

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["SharedAnswers"]

POLL_S = 0.02
"""Seconds between two attempts to acquire a lock on the event loop."""


class SharedAnswers:
    """A folder with one file for each answer; the process that asks holds its lock, and the others wait."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold the lock of an answer inside the block."""
        with self._file_lock(name):
            yield

    @asynccontextmanager
    async def lock_ahead(self, name: str) -> AsyncIterator[None]:
        """Hold the lock of an answer inside the block; other coroutines run while this one waits for it."""
        from asyncio import sleep

        from filelock import Timeout

        lock = self._file_lock(name)
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except Timeout:
                await sleep(POLL_S)
        try:
            yield
        finally:
            lock.release()

    def find(self, name: str) -> Answer | None:
        """Return an answer, or None if no process has it; the caller must hold the lock."""
        path = self._folder / f"{name}.json"
        return decode_answer(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def store(self, name: str, answer: Answer) -> None:
        """Write an answer for the other processes; if that fails, they ask again. The caller must hold the lock."""
        with suppress(OSError), atomic_files(self._folder / f"{name}.json") as (part,):
            part.write_text(json.dumps(encode_answer(answer)), encoding="utf-8")

    def forget(self, name: str) -> None:
        """Remove an answer; the next process that needs it asks again."""
        with self._file_lock(name):
            (self._folder / f"{name}.json").unlink(missing_ok=True)

    def _file_lock(self, name: str) -> FileLock:
        from filelock import FileLock

        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(self._folder / f"{name}.lock")
