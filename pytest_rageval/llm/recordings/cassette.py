"""Read and write a file of recordings: one record per line, readable even after a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_rageval.errors import DataError
from pytest_rageval.folders import regular_path
from pytest_rageval.llm.recordings.line_file import append_line, is_whole, locked
from pytest_rageval.llm.recordings.records import Line, key_of

__all__ = ["Index", "append", "read", "sort_records"]

Index = dict[str, Line]
"""Key -> record."""


def read(path: Path) -> Index:
    """Return the records of a file, {} if it is missing. If several records have the same key, return the last.

    Ignore a last line that a kill has cut. Raise `DataError` for any other malformed line, and for an unreadable file.
    """
    with _explaining_errors(path, "read"):
        data = regular_path(path).read_bytes() if path.exists() else b""
    return _index_of(path, data)


def append(path: Path, line: bytes) -> None:
    """Append one record immediately. A lock serializes the writes of processes and threads."""
    with _explaining_errors(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        append_line(path, line)


def sort_records(path: Path, keep: Callable[[str], bool] = lambda key: True) -> int:
    """Sort a file by key, and remove duplicates and the records whose key is not to ``keep``.

    Return the number of distinct keys that were removed. The file is replaced as a whole, and only if its bytes change;
    it is deleted if no record is left.
    """
    with _explaining_errors(path, "written"), locked(path):
        data = regular_path(path).read_bytes() if path.exists() else b""
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
    if is_whole(tail):
        texts.append(tail)
    lines = (Line(number, text.removesuffix(b"\r")) for number, text in enumerate(texts, 1))
    return {key_of(path, line): line for line in lines if line.text}


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
