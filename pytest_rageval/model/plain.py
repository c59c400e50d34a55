"""Convert values to builtins that JSON and UTF-8 can represent, and encode them.

A user's system, metric or loader may return numpy numbers, subclasses of str, halves of surrogate pairs or NaN.
Writing such a value to JSON would raise an error and end the session.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from json import encoder
from numbers import Integral, Real
from typing import Any

from pytest_rageval.errors import short_repr

__all__ = [
    "Plain",
    "encoder_of",
    "finite_number",
    "plain_count",
    "plain_json",
    "plain_number",
    "plain_scalar",
    "plain_text",
]

Plain = dict[str, Any]

MAX_DEPTH = 50
"""Highest number of nested levels of a value in a step."""

MAX_REPR = 200
"""Longest text that replaces a value that JSON cannot represent, in characters."""

MAX_BITS = 1024
"""Largest integer that is written, in bits; Python refuses to write integers with many thousand digits."""

_NO_MAPPINGS = (int, list, tuple)
"""Types that are checked before `isinstance` with `Mapping`, which is slow because it is an abstract class."""


def encoder_of(options: json.JSONEncoder) -> Callable[[object], str]:
    """Return a function like ``options.encode`` that is faster for small values; values must not contain themselves.

    `json` constructs its C encoder again for each value, which takes as long as encoding an outcome. This function
    constructs it once. Without the C encoder, return ``options.encode``.
    """
    make: Any = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return options.encode
    quoted: Callable[[str], str] = getattr(encoder, f"encode_basestring{'_ascii' * options.ensure_ascii}")
    separators = options.key_separator, options.item_separator
    parts = make(
        None, options.default, quoted, None, *separators, options.sort_keys, options.skipkeys, options.allow_nan
    )

    def encode(value: object) -> str:
        return quoted(value) if isinstance(value, str) else "".join(parts(value, 0))

    return encode


def plain_text(value: object) -> str:
    """Return a plain str that UTF-8 can encode: half of a surrogate pair becomes its escape."""
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain_number(value: float | None) -> float | None:
    """Return a plain finite number; None if it is unknown or not finite."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def finite_number(value: float) -> float:
    """Return a plain number; raise `ValueError` if it is not finite."""
    number = plain_number(value)
    if number is None:
        raise ValueError(f"{value} is not a finite number")
    return number


def plain_count(value: int | None) -> int | None:
    """Return a plain whole number; None if it is unknown or not finite."""
    number = plain_number(value)
    return None if number is None else int(number)


def plain_scalar(value: object) -> str | int | float | bool | None:
    """Return a number, bool or None as a builtin, and anything else as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    return plain_number(value) if isinstance(value, float) else plain_text(value)


def plain_json(value: object) -> Any:
    """Return a value of JSON builtins.

    What JSON cannot represent (an object, NaN, a cycle, a value nested deeper than `MAX_DEPTH` levels) becomes its
    repr, cut to `MAX_REPR` characters. Half of a surrogate pair becomes its escape.
    """
    if value.__class__ is str and value.isascii():
        return value
    try:
        return _plain_value(value, ())
    except Exception:  # a user's mapping or number may raise anything
        return short_repr(value, MAX_REPR)


def _plain_value(value: Any, around: tuple[int, ...]) -> Any:
    """Return a value of JSON builtins; ``around`` has the ids of the objects that contain it."""
    kind = value.__class__
    if kind is str:
        return value if value.isascii() else plain_text(value)
    if value is None or kind is bool or (kind is float and -math.inf < value < math.inf):
        return value
    is_mapping = kind is dict or (kind not in _NO_MAPPINGS and isinstance(value, Mapping))
    if not is_mapping and not isinstance(value, list | tuple):
        return plain_text(value) if isinstance(value, str) else _plain_number(value)
    if len(around) == MAX_DEPTH or id(value) in around:
        return short_repr(value, MAX_REPR)
    around = (*around, id(value))
    if is_mapping:
        return {plain_text(key): _plain_value(item, around) for key, item in value.items()}
    return [_plain_value(item, around) for item in value]


def _plain_number(value: object) -> int | float | str:
    if isinstance(value, Integral) and int(value).bit_length() <= MAX_BITS:
        return int(value)
    if isinstance(value, Real) and math.isfinite(number := float(value)):
        return number
    return short_repr(value, MAX_REPR)
