"""Convert single values to builtins that JSON and UTF-8 can hold.

A user's system, metric or loader may return numpy numbers, subclasses of str, halves of surrogate pairs or NaN.
Writing any of them would end the session.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["Plain", "finite_number", "plain_count", "plain_number", "plain_scalar", "plain_text"]

Plain = dict[str, Any]


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
