"""Read a data file (JSON Lines or one JSON array) into records with their line numbers."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from pytest_rageval.datasets.faults import any_collected, one_record
from pytest_rageval.errors import DataError, ascii_safe, short_repr
from pytest_rageval.folders import regular

__all__ = [
    "JsonObject", "json_kind", "place_below", "read_bytes", "read_groups", "read_line", "read_object", "read_records",
    "read_text", "shown_path",
]  # fmt: skip

JsonObject = dict[str, object]

_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE, _NUL = r"\u", r"\u0000"


class _RefusedError(ValueError):
    """Raised for JSON that Python accepts but whose meaning is uncertain."""


def read_records(path: Path) -> list[tuple[int, JsonObject]]:
    """Return the records of ``path`` with the line (from 1) each starts on; at least one.

    The first character that is not blank decides between JSON Lines and a JSON array of objects.
    A byte-order mark, CRLF and blank lines are accepted. Anything else that is not plain UTF-8 JSON objects raises
    `DataError`, and so do duplicate keys, NaN, Infinity, lone surrogates and NUL characters.
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
    """Return a file's bytes; cache the last file, because a digest often follows a load."""
    stat = regular(path).stat()
    return _bytes(path.absolute(), stat.st_mtime_ns, stat.st_size)


def shown_path(path: Path) -> str:
    """Return ``path`` for a message: relative if it is below the current directory, and safe to print."""
    with suppress(ValueError, OSError):
        path = path.relative_to(Path.cwd())
    return ascii_safe(str(path))


def place_below(rootdir: Path, started: Path, place: str) -> str:
    """Return a ``file:line`` relative to the rootdir; "" for a file elsewhere.

    Args:
        rootdir: the folder that the result is relative to.
        started: the folder that ``place`` is relative to: the current directory when `shown_path` made it.
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
    """Return the text of a UTF-8 file without its byte-order mark; raise `DataError` for anything else."""
    name = shown_path(path)
    if path.is_dir():
        raise DataError(name, "is a directory; name a file in it")
    try:
        raw = read_bytes(path)
    except FileNotFoundError:
        raise DataError(
            name, "no such file; a path is relative to the file that names it, then to the rootdir", code="RAG105"
        ) from None
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
    """Yield the numbered lines of a JSON Lines file: records, and lists of records that belong together.

    Raises `DataError` for the same faults as `read_records`.
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
    """Return the record of one line of JSON Lines; None for a blank line. Messages name the file by ``name``."""
    value = _line(text, name, line)
    return None if value is None else _object(value, f"{name}:{line}")


def read_object(path: Path) -> JsonObject:
    """Return the one JSON object of a file; raise `DataError` for any other file, as `read_records` does."""
    name, text = shown_path(path), read_text(path)
    at, line = _skip_space(text, 0, 1)
    value, end = _decode(text, at, name, line, "wanted one JSON object")
    rest, last = _skip_space(text, end, line + text.count("\n", at, end))
    if rest < len(text):
        raise DataError(f"{name}:{last}", "found more text after the object, wanted one JSON object")
    return _object(value, f"{name}:{line}")


def _line(text: str, name: str, line: int) -> object:
    """Return the value of one line, never null; None for a blank line."""
    start = 0 if text.startswith("{") else _skip_space(text, 0, line)[0]
    if start == len(text):
        return None
    value, end = _decode(text, start, name, line, "wanted one complete JSON object a line")
    rest = end if end == len(text) else _skip_space(text, end, line)[0]
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
    at, line = _skip_space(text, 0, 1)
    at, line = _skip_space(text, at + 1, line)
    more = not text.startswith("]", at)
    while more:
        value, end = _decode(text, at, name, line, "wanted a complete JSON array of objects")
        values = None
        with one_record:
            values = _object(value, f"{name}:{line}")
        if values is not None:
            yield line, values
        at, line = _skip_space(text, end, line + text.count("\n", at, end))
        more = text.startswith(",", at)
        if more:
            at, line = _skip_space(text, at + 1, line)
        elif not text.startswith("]", at):
            what = f"found {short_repr(text[at])}" if at < len(text) else "the file ends"
            raise DataError(f"{name}:{line}", f"{what} after a record of the array, wanted ',' or ']'")
    at, line = _skip_space(text, at + 1, line)
    if at != len(text):
        raise DataError(f"{name}:{line}", "found more text after the end of the array, wanted one JSON array")


def _skip_space(text: str, at: int, line: int) -> tuple[int, int]:
    """Return the place and the line of the next character that is not JSON white space."""
    match = _SPACE.match(text, at)
    end = match.end() if match else at
    return end, line + text.count("\n", at, end)


def _decode(text: str, start: int, name: str, line: int, wanted: str) -> tuple[object, int]:
    """Return the JSON value that starts at ``start``, in ``line``, and its end."""
    try:
        value, end = _DECODER.raw_decode(text, start)
        if text.find(_ESCAPE, start, end) >= 0:
            _check_escapes(text, start, end, value)
    except json.JSONDecodeError as error:
        line += text.count("\n", start, error.pos)
        problem = f"invalid JSON at column {error.colno} ({error.msg}), {wanted}"
    except RecursionError:
        problem = "the JSON is nested too deep for a record, wanted an object of plain fields"
    except UnicodeEncodeError:
        problem = "found half of a surrogate pair (an escape such as \\ud83d alone), wanted whole characters"
    except _RefusedError as error:
        problem = str(error)
    except ValueError:
        problem = "found a number with too many digits, wanted an ordinary number"
    else:
        return value, end
    raise DataError(f"{name}:{line}", problem)


def _check_escapes(text: str, start: int, end: int, value: object) -> None:
    """Refuse half of a surrogate pair and NUL characters, which only an escape can write."""
    if _SURROGATE.search(text, start, end):
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    if text.find(_NUL, start, end) >= 0:
        _refuse_nul(value)


def _refuse_nul(value: object, place: str = "") -> None:
    """Refuse a JSON value with a NUL character in one of its strings or keys."""
    if isinstance(value, dict):
        for key, item in value.items():
            path = f"{place}.{key}" if place else key
            _refuse_nul(key, path)
            _refuse_nul(item, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _refuse_nul(item, f"{place}[{index}]")
    elif isinstance(value, str) and "\0" in value:
        raise _RefusedError(f"{ascii_safe(place)}: found a NUL character ({_NUL}), wanted text without any")


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


def _unique_keys(pairs: list[tuple[str, object]]) -> JsonObject:
    record = dict(pairs)
    if len(record) != len(pairs):
        duplicate = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _RefusedError(f"the key {short_repr(duplicate)} stands twice in one object, wanted it once")
    return record


def _refuse_constant(name: str) -> object:
    raise _RefusedError(f"found {name}, which is not JSON, wanted a finite number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _RefusedError(f"the number {short_repr(text)} is too large, wanted a finite number")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant, parse_float=_finite)
