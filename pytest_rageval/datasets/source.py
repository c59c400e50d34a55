"""Read JSON Lines or a JSON array into records with line numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from pytest_rageval.datasets.faults import any_collected, one_record
from pytest_rageval.datasets.strict_json import decode, skip_space
from pytest_rageval.errors import DataError, ascii_safe, short_repr
from pytest_rageval.folders import regular_path

__all__ = [
    "JsonObject", "forget_bytes", "json_kind", "place_below", "read_bytes", "read_groups", "read_line", "read_object",
    "read_records", "read_text", "shown_path",
]  # fmt: skip

JsonObject = dict[str, object]


def read_records(path: Path) -> list[tuple[int, JsonObject]]:
    """Return the records of a file, each with the number of its first line, from 1.

    The first non-blank character decides between JSON Lines and a JSON array of objects. A byte-order mark, CRLF and
    blank lines are accepted.

    Raises:
        DataError: the file has no record or is not UTF-8, or a record is not a JSON object or contains duplicate keys,
            NaN, Infinity, lone surrogates or NUL characters.
    """
    name = shown_path(path)
    text = read_text(path)
    records = list(_array(text, name) if text.lstrip(" \t\r\n").startswith("[") else _lines(text, name))
    if not records and not any_collected():
        raise DataError(f"{name}:1", "the file holds no record; it needs at least one JSON object")
    return records


@lru_cache(maxsize=1)
def _bytes(path: Path, modified: int, size: int) -> bytes:
    return path.read_bytes()


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes. The last file is cached, because a digest often follows a load; see `forget_bytes`."""
    stat = regular_path(path).stat()
    return _bytes(path.absolute(), stat.st_mtime_ns, stat.st_size)


def forget_bytes() -> None:
    """Free the cached bytes of the last file."""
    _bytes.cache_clear()


def shown_path(path: Path) -> str:
    """Return a path for a message: relative if it is below the current directory, and safe to print."""
    with suppress(ValueError, OSError):
        path = path.relative_to(Path.cwd())
    return ascii_safe(str(path))


def place_below(rootdir: Path, started: Path, place: str) -> str:
    """Convert a ``file:line`` to be relative to the rootdir; return "" for a file outside it.

    Args:
        rootdir: the folder that the result is relative to.
        started: the folder that ``place`` is relative to: the current directory at the call of `shown_path`.
        place: ``file:line``.
    """
    name, _, line = place.rpartition(":")
    path = _path_below(rootdir, started, name)
    return f"{path}:{line}" if path and line.isdigit() else ""


@lru_cache(maxsize=64)
def _path_below(rootdir: Path, started: Path, name: str) -> str:
    path = Path(os.path.normpath(started / name))
    return path.relative_to(rootdir).as_posix() if path.is_relative_to(rootdir) else ""


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file without byte-order mark; raise `DataError` if it is not UTF-8 or unreadable."""
    name = shown_path(path)
    if path.is_dir():
        raise DataError(name, "is a directory; name a file in it")
    try:
        raw = read_bytes(path)
    except FileNotFoundError:
        raise DataError(name, "no such file; correct the path", code="RAG105") from None
    except (OSError, ValueError) as error:
        raise DataError(name, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        text = "\n".join(_decode_lines(raw, name))
    return text.removeprefix("\ufeff")


def _decode_lines(raw: bytes, name: str) -> Iterator[str]:
    """Yield the lines of a file with invalid UTF-8; raise `DataError` at the first invalid line."""
    offset = 0
    for number, line in enumerate(raw.split(b"\n"), 1):
        text = ""
        with one_record:
            text = _decode_line(line, f"{name}:{number}", offset)
        yield text
        offset += len(line) + 1


def _decode_line(line: bytes, where: str, offset: int) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte 0x{line[error.start]:02x} at offset {offset + error.start}"
        raise DataError(where, f"{place} is not UTF-8; save the file as UTF-8", code="RAG204") from None
    if "\0" in text:
        raise DataError(where, "found a NUL byte, wanted UTF-8 text; is the file binary or UTF-16?", code="RAG204")
    return text


def read_groups(path: Path) -> Iterator[tuple[int, JsonObject | list[JsonObject]]]:
    """Yield the lines of a JSON Lines file with their numbers: records, and lists of records that belong together.

    Raises:
        DataError: see `read_records`.
    """
    name = shown_path(path)
    empty = True
    for line, text in enumerate(read_text(path).split("\n"), start=1):
        group: JsonObject | list[JsonObject] | None = None
        with one_record:
            value, where = _line(text, name, line), f"{name}:{line}"
            if value is None:
                continue
            group = [_object(record, where) for record in value] if isinstance(value, list) else _object(value, where)
        if group is not None:
            empty = False
            yield line, group
    if empty and not any_collected():
        raise DataError(f"{name}:1", "the file holds no record; it needs at least one JSON object")


def read_line(text: str, name: str, line: int) -> JsonObject | None:
    """Return the record in one line of JSON Lines; None for a blank line. Messages call the file ``name``."""
    value = _line(text, name, line)
    return None if value is None else _object(value, f"{name}:{line}")


def read_object(path: Path) -> JsonObject:
    """Return the single JSON object in a file; raise `DataError` for any other file."""
    name, text = shown_path(path), read_text(path)
    at, line = skip_space(text, 0, 1)
    value, end = decode(text, at, name, line, "wanted one JSON object")
    rest, last = skip_space(text, end, line + text.count("\n", at, end))
    if rest < len(text):
        raise DataError(f"{name}:{last}", "found more text after the object, wanted one JSON object")
    return _object(value, f"{name}:{line}")


def _line(text: str, name: str, line: int) -> object:
    """Return the JSON value of one line; None for a blank line. A null raises `DataError`."""
    start = 0 if text.startswith("{") else skip_space(text, 0, line)[0]
    if start == len(text):
        return None
    value, end = decode(text, start, name, line, "wanted one complete JSON object a line")
    rest = end if end == len(text) else skip_space(text, end, line)[0]
    if rest != len(text):
        problem = f"found more text after the record, at column {rest + 1}, wanted one JSON object a line"
        raise DataError(f"{name}:{line}", problem)
    return _object(value, f"{name}:{line}") if value is None else value


def _lines(text: str, name: str) -> Iterator[tuple[int, JsonObject]]:
    for line, record in enumerate(text.split("\n"), start=1):
        values = None
        with one_record:
            values = read_line(record, name, line)
        if values is not None:
            yield line, values


def _array(text: str, name: str) -> Iterator[tuple[int, JsonObject]]:
    at, line = skip_space(text, 0, 1)
    at, line = skip_space(text, at + 1, line)
    more = not text.startswith("]", at)
    while more:
        value, end = decode(text, at, name, line, "wanted a complete JSON array of objects")
        values = None
        with one_record:
            values = _object(value, f"{name}:{line}")
        if values is not None:
            yield line, values
        at, line = skip_space(text, end, line + text.count("\n", at, end))
        more = text.startswith(",", at)
        if more:
            at, line = skip_space(text, at + 1, line)
        elif not text.startswith("]", at):
            what = f"found {short_repr(text[at])}" if at < len(text) else "the file ends"
            raise DataError(f"{name}:{line}", f"{what} after a record of the array, wanted ',' or ']'")
    at, line = skip_space(text, at + 1, line)
    if at != len(text):
        raise DataError(f"{name}:{line}", "found more text after the end of the array, wanted one JSON array")


def _object(value: object, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise DataError(where, f"found {json_kind(value)} for a record, wanted a JSON object")
    return value


def json_kind(value: object) -> str:
    """Return a short description of a JSON value for an error message."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return "an object" if isinstance(value, dict) else short_repr(value)
