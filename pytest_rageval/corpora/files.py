"""Read UTF-8 text files as a whole or by line; errors name file and line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.folders import regular_path

__all__ = ["lines_of", "text_of"]

_BOM = b"\xef\xbb\xbf"


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the non-blank lines of a file with their numbers from 1, without line ends.

    Only one line at a time is in memory. A byte-order mark and CRLF are accepted.
    """
    name = shown_path(path)
    offset = 0
    with _open(path, name) as file:
        for number, raw in enumerate(file, start=1):
            line = _decode(raw.removeprefix(_BOM) if number == 1 else raw, name, number, offset).rstrip("\r\n")
            offset += len(raw)
            if line and not line.isspace():
                yield number, line


def text_of(path: Path) -> str:
    """Return the text of a file without byte-order mark; CRLF and CR become LF."""
    name = shown_path(path)
    with _open(path, name) as file:
        raw = file.read()
    text = _decode(raw.removeprefix(_BOM), name, 1, len(raw) - len(raw.removeprefix(_BOM)))
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def _open(path: Path, name: str) -> Iterator[IO[bytes]]:
    try:
        with regular_path(path).open("rb") as file:
            yield file
    except FileNotFoundError:
        raise DataError(
            name, "no such file; paths of rag_corpus are relative to the folder of the ini file", code="RAG105"
        ) from None
    except IsADirectoryError:
        raise DataError(name, "is a directory; name a file") from None
    except OSError as error:
        raise DataError(name, f"cannot be read: {error.strerror or error}") from None


def _decode(raw: bytes, name: str, line: int, offset: int) -> str:
    """Decode bytes that start at ``line`` and ``offset`` of the file."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line += raw.count(b"\n", 0, error.start)
        problem = f"byte 0x{raw[error.start]:02x} at offset {offset + error.start} is not UTF-8; save the file as UTF-8"
        raise DataError(f"{name}:{line}", problem, code="RAG204") from None
    at = text.find("\0")
    if at >= 0:
        line += text.count("\n", 0, at)
        raise DataError(
            f"{name}:{line}", "found a NUL byte, wanted UTF-8 text; is the file binary or UTF-16?", code="RAG204"
        )
    return text
