"""Decode JSON strictly: what Python accepts although its meaning is uncertain is refused."""

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


class _RefusedError(ValueError):
    """Raised for JSON that Python accepts but whose meaning is uncertain."""


def skip_space(text: str, at: int, line: int) -> tuple[int, int]:
    """Return the place and the line of the next character that is not JSON white space."""
    match = _SPACE.match(text, at)
    end = match.end() if match else at
    return end, line + text.count("\n", at, end)


def decode(text: str, start: int, name: str, line: int, wanted: str) -> tuple[object, int]:
    """Return the JSON value that starts at a place of a text, and its end.

    Args:
        text: the text.
        start: the place.
        name: the file's name, for messages.
        line: the line of the place, from 1.
        wanted: what the file should hold, for messages.

    Raises:
        DataError: it is malformed, nested too deep, or has a duplicate key, NaN, Infinity, a number with too many
            digits, a lone surrogate or a NUL character.
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


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
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
