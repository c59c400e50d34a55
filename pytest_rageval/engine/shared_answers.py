"""Answers that the processes of one session share, so that none asks for what another has been told."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.folders import whole_files
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.codec import decode_answer, encode_answer

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["SharedAnswers"]

POLL_S = 0.02
"""How often the event loop looks whether another process has its answer."""


class SharedAnswers:
    """A folder of answers, a file each; who asks for one holds its lock, and the others wait for the answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def held(self, name: str) -> Iterator[None]:
        """Hold the lock of an answer."""
        with self._lock(name):
            yield

    @asynccontextmanager
    async def held_ahead(self, name: str) -> AsyncIterator[None]:
        """Hold it on the event loop, where others run while it waits."""
        from asyncio import sleep

        from filelock import Timeout

        lock = self._lock(name)
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
        """Return an answer, or None where no process has it; the lock has to be held."""
        path = self._folder / f"{name}.json"
        return decode_answer(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def keep(self, name: str, answer: Answer) -> None:
        """Write an answer down for the other processes, which else ask themselves; the lock has to be held."""
        with suppress(OSError), whole_files(self._folder / f"{name}.json") as (part,):
            part.write_text(json.dumps(encode_answer(answer)), encoding="utf-8")

    def forget(self, name: str) -> None:
        """Have the next one that wants an answer ask for it."""
        with self._lock(name):
            (self._folder / f"{name}.json").unlink(missing_ok=True)

    def _lock(self, name: str) -> FileLock:
        from filelock import FileLock

        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(self._folder / f"{name}.lock")
