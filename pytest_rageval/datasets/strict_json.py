"""Decode JSON strictly: reject ambiguous input that Python accepts, such as duplicate keys."""

from __future__ import annotations

import json
import math
import re
from collections import Counter

from pytest_rageval.errors import DataError, ascii_safe, short_repr

__all__ = ["decode", "skip_space"]

_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE, _NUL = r"\u", r"\u0000"


class _AmbiguousJsonError(ValueError):
    """Raised for JSON that Python accepts but that is ambiguous or unsafe."""


def skip_space(text: str, at: int, line: int) -> tuple[int, int]:
    """Return the position and the line of the next character that is not JSON white space."""
    match = _SPACE.match(text, at)
    end = match.end() if match else at
    return end, line + text.count("\n", at, end)


def decode(text: str, start: int, name: str, line: int, wanted: str) -> tuple[object, int]:
    """Return the JSON value that starts at a position of a text, and its end position.

    Args:
        text: the text.
        start: the position.
        name: the file's name, for messages.
        line: the line of the position, from 1.
        wanted: what the file should contain, for messages.

    Raises:
        DataError: the value is malformed, nested too deep, or has a duplicate key, NaN, Infinity, a number with too
            many digits, a lone surrogate or a NUL character.
    """
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
    except _AmbiguousJsonError as error:
        problem = str(error)
    except ValueError:
        problem = "found a number with too many digits, wanted an ordinary number"
    else:
        return value, end
    raise DataError(f"{name}:{line}", problem)


def _check_escapes(text: str, start: int, end: int, value: object) -> None:
    """Raise for lone surrogates and NUL characters, which can only occur as escapes."""
    if _SURROGATE.search(text, start, end):
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    if text.find(_NUL, start, end) >= 0:
        _check_nul(value)


def _check_nul(value: object, place: str = "") -> None:
    """Raise if a string or key in a JSON value contains a NUL character."""
    if isinstance(value, dict):
        for key, item in value.items():
            path = f"{place}.{key}" if place else key
            _check_nul(key, path)
            _check_nul(item, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_nul(item, f"{place}[{index}]")
    elif isinstance(value, str) and "\0" in value:
        raise _AmbiguousJsonError(f"{ascii_safe(place)}: found a NUL character ({_NUL}), wanted text without NUL")


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) != len(pairs):
        duplicate = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _AmbiguousJsonError(f"the key {short_repr(duplicate)} occurs twice in one object, wanted it once")
    return record


def _raise_constant(name: str) -> object:
    raise _AmbiguousJsonError(f"found {name}, which is not JSON, wanted a finite number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _AmbiguousJsonError(f"the number {short_repr(text)} is too large, wanted a finite number")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_raise_constant, parse_float=_finite)
