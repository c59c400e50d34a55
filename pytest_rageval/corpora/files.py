"""Text files, whole or line by line, in UTF-8; what is not is a `DataError` that names file and line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.folders import regular

__all__ = ["lines_of", "text_of"]

_BOM = b"\xef\xbb\xbf"


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank, numbered from 1, without their ends, one at a time in memory.

    A byte-order mark and CRLF are accepted.
    """
    name = shown_path(path)
    offset = 0
    with _opened(path, name) as file:
        for number, raw in enumerate(file, start=1):
            line = _decoded(raw.removeprefix(_BOM) if number == 1 else raw, name, number, offset).rstrip("\r\n")
            offset += len(raw)
            if line and not line.isspace():
                yield number, line


def text_of(path: Path) -> str:
    """Return the text of a file as Python's text mode reads it, with LF for CRLF and CR, and no byte-order mark."""
    name = shown_path(path)
    with _opened(path, name) as file:
        raw = file.read()
    text = _decoded(raw.removeprefix(_BOM), name, 1, len(raw) - len(raw.removeprefix(_BOM)))
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def _opened(path: Path, name: str) -> Iterator[IO[bytes]]:
    try:
        with regular(path).open("rb") as file:
            yield file
    except FileNotFoundError:
        raise DataError(name, "no such file; a path of rag_corpus is relative to the folder of the ini") from None
    except IsADirectoryError:
        raise DataError(name, "is a directory, wanted a file") from None
    except OSError as error:
        raise DataError(name, f"cannot be read: {error.strerror or error}") from None


def _decoded(raw: bytes, name: str, line: int, offset: int) -> str:
    """Return bytes as text; they begin in ``line`` of the file, at ``offset``."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line += raw.count(b"\n", 0, error.start)
        problem = f"byte 0x{raw[error.start]:02x} at offset {offset + error.start} is not UTF-8; save the file as UTF-8"
        raise DataError(f"{name}:{line}", problem) from None
    at = text.find("\0")
    if at >= 0:
        line += text.count("\n", 0, at)
        raise DataError(f"{name}:{line}", "found a NUL byte, wanted UTF-8 text; is the file binary or UTF-16?")
    return text
