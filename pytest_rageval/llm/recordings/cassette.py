"""Read and write a file of recordings: one record per line, readable after any kill."""

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
"""Seconds between two checks of a lock; processes hold it for less than that."""

Index = dict[str, Line]
"""Key -> record."""


def read(path: Path) -> Index:
    """Return the records of a file, {} if it is missing. If several records have one key, the last counts.

    A last line that was cut by a kill is ignored. Raises `DataError` for any other malformed line, and for an
    unreadable file.
    """
    with _explaining_errors(path, "read"):
        data = regular(path).read_bytes() if path.exists() else b""
    return _index_of(path, data)


def append(path: Path, line: bytes) -> None:
    """Append one record immediately. A lock serializes the writes of processes and threads."""
    with _explaining_errors(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path), path.open("a+b") as stream:
            _repair_end(stream)
            stream.write(line + b"\n")


def settle(path: Path, keep: Callable[[str], bool] = lambda key: True) -> int:
    """Sort a file by key, drop duplicates and records not to ``keep``; return the number of the latter.

    The file is replaced as a whole, only if its bytes change; it is removed if no record is left.
    """
    with _explaining_errors(path, "written"), _locked(path):
        data = regular(path).read_bytes() if path.exists() else b""
        index = _index_of(path, data)
        records = [index[key].text + b"\n" for key in sorted(index) if keep(key)]
        content = b"".join(records)
        if not records:
            path.unlink(missing_ok=True)
        elif content != data:
            part = path.with_name(f".{path.name}.part")  # a fixed name: killed processes leave at most one such file
            try:
                part.write_bytes(content)
                part.replace(path)
            except OSError:
                part.unlink(missing_ok=True)
                raise
        return len(index) - len(records)


def _index_of(path: Path, data: bytes) -> Index:
    *texts, tail = data.split(b"\n")
    if _is_whole(tail):
        texts.append(tail)
    lines = (Line(number, text.removesuffix(b"\r")) for number, text in enumerate(texts, 1))
    return {key_of(path, line): line for line in lines if line.text}


def _repair_end(stream: BufferedRandom) -> None:
    """Remove a cut record at the end of a file; add a missing line end to a whole one."""
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
    """Return whether the text after the last line end is a JSON object."""
    try:
        return tail.endswith(b"}") and isinstance(parse_json(tail), dict)
    except ValueError:
        return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file. It is in the temporary folder because the file's own folder is committed.

    The lock file is removed while it is still held; a waiting process notices that and creates a new one.
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
    """Return the locked descriptor of a lock file that still exists."""
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
def _explaining_errors(path: Path, action: str) -> Iterator[None]:
    """Turn an error of the operating system into one sentence about the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = (
            f"recordings cannot be {action} here ({reason}); make room, correct the rights, or choose another folder"
        )
        raise DataError(str(path), problem, code="RAG412") from error
