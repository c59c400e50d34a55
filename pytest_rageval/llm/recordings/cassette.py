"""One file of recordings: one record a line, sorted, and readable whenever a process that writes to it is killed."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

from pytest_rageval.errors import DataError
from pytest_rageval.folders import regular
from pytest_rageval.llm.recordings.records import Line, key_of
from pytest_rageval.model.stored_json import parse_json

__all__ = ["Index", "append", "read", "settle"]

POLL_S = 0.001
"""Seconds between two looks at a lock that another process holds; it holds it for less than that."""

Index = dict[str, Line]
"""Key -> its record."""


def read(path: Path) -> Index:
    """Return the records of a file, none where there is no file. Of records with one key the last counts.

    A last line that was cut short when its process was killed is left out. Raises `DataError` for any other line that
    is no record, and for a file that cannot be read.
    """
    with _explained(path, "read"):
        data = regular(path).read_bytes() if path.exists() else b""
    return _indexed(path, data)


def append(path: Path, line: bytes) -> None:
    """Write one more record, at once. Processes and threads that write to one file do so one after the other."""
    with _explained(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path), path.open("a+b") as stream:
            _mend(stream)
            stream.write(line + b"\n")


def settle(path: Path, keep: Callable[[str], bool] = lambda key: True) -> int:
    """Sort a file by key, one record a key, without those not to ``keep``; return how many those were.

    The file is replaced as a whole, and only when that changes a byte; it is removed when no record is left.
    """
    with _explained(path, "written"), _locked(path):
        data = regular(path).read_bytes() if path.exists() else b""
        index = _indexed(path, data)
        kept = [index[key].text + b"\n" for key in sorted(index) if keep(key)]
        settled = b"".join(kept)
        if not kept:
            path.unlink(missing_ok=True)
        elif settled != data:
            part = path.with_name(f".{path.name}.part")  # always the same name: however many are killed, one is left
            try:
                part.write_bytes(settled)
                part.replace(path)
            except OSError:
                part.unlink(missing_ok=True)
                raise
        return len(index) - len(kept)


def _indexed(path: Path, data: bytes) -> Index:
    *texts, tail = data.split(b"\n")
    if _is_whole(tail):
        texts.append(tail)
    lines = (Line(number, text.removesuffix(b"\r")) for number, text in enumerate(texts, 1))
    return {key_of(path, line): line for line in lines if line.text}


def _mend(stream: BufferedRandom) -> None:
    """Take a record that was cut short off the end of a file; a whole one that lacks the line's end gets it."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - 1, 0))
    if stream.read() in (b"", b"\n"):
        return
    stream.seek(0)
    tail = stream.read().rpartition(b"\n")[2]
    if _is_whole(tail):
        stream.write(b"\n")
    else:
        stream.truncate(size - len(tail))


def _is_whole(tail: bytes) -> bool:
    """Return whether what stands behind the last line's end is an object of JSON."""
    try:
        return tail.endswith(b"}") and isinstance(parse_json(tail), dict)
    except ValueError:
        return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, in the temporary folder because the file's own folder is committed.

    The lock's file is removed while it is still held. Who waited for it finds that it is gone, and makes a new one.
    """
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    user = getattr(os, "getuid", int)()
    lock = os.path.join(tempfile.gettempdir(), f"pytest-rageval-{user}-{name}.lock")
    if sys.platform == "win32":
        from filelock import FileLock

        with FileLock(lock, poll_interval=POLL_S):  # it removes its file itself
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
    """Return the descriptor of a lock's file that is locked and still in its place."""
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


@contextmanager
def _explained(path: Path, done: str) -> Iterator[None]:
    """Make an error of the operating system one sentence about the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = (
            f"recordings cannot be {done} here ({reason}); make room, correct the rights, or choose another folder"
        )
        raise DataError(str(path), problem) from error
