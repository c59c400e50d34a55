"""Append lines of JSON to a file, safely if several processes write it or one is killed."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

from pytest_rageval.model.stored_json import parse_json

__all__ = ["append_line", "is_whole", "locked"]

POLL_S = 0.001
"""Seconds between two checks of a lock; processes hold it for less than that."""


def append_line(path: Path, line: bytes, *, durable: bool = False) -> None:
    """Append one JSON object as a line. A lock serializes the writes of processes and threads.

    A last line that a kill has cut is removed first; it was never reported as written.

    Args:
        path: the file; created if missing.
        line: the object, without a line end.
        durable: whether to wait until the line is on the disk.
    """
    with locked(path), path.open("a+b") as stream:
        _repair_end(stream)
        stream.write(line + b"\n")
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


def _repair_end(stream: BufferedRandom) -> None:
    """Remove a cut record at the end of a file; add a missing line end to a whole one."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - 1, 0))
    if stream.read() in (b"", b"\n"):
        return
    stream.seek(0)
    tail = stream.read().rpartition(b"\n")[2]
    if is_whole(tail):
        stream.write(b"\n")
    else:
        stream.truncate(size - len(tail))


def is_whole(tail: bytes) -> bool:
    """Return whether the text after the last line end is a complete JSON object."""
    try:
        return tail.endswith(b"}") and isinstance(parse_json(tail), dict)
    except ValueError:
        return False


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file inside the block.

    The lock file is in the temporary folder, because users commit the folder of ``path``. It is removed while the lock
    is still held; a waiting process notices that and creates a new lock file.
    """
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    user = getattr(os, "getuid", int)()
    lock = os.path.join(tempfile.gettempdir(), f"pytest-rageval-{user}-{name}.lock")
    if sys.platform == "win32":
        from filelock import FileLock

        with FileLock(lock, poll_interval=POLL_S):  # FileLock removes its file itself
            yield
        return
    descriptor = _locked_file(lock)
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(lock)
        os.close(descriptor)


def _locked_file(lock: str) -> int:
    """Lock a file, and return its descriptor; try again if another process has removed the file in the meantime."""
    import fcntl

    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
