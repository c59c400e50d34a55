"""Single values as builtins that can be written down.

What a user's system, metric or loader made is brought to builtins here: numbers of numpy, subclasses of str, halves of
surrogate pairs and NaN would each end the session where it is written down.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["Plain", "plain_count", "plain_number", "plain_scalar", "plain_text"]

Plain = dict[str, Any]


def plain_text(value: object) -> str:
    """Return a plain str that can be written as UTF-8: half of a surrogate pair becomes its escape."""
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain_number(value: float | None) -> float | None:
    """Return a plain finite number, or None for one that is unknown."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def plain_count(value: int | None) -> int | None:
    """Return a plain whole number, or None for one that is unknown."""
    number = plain_number(value)
    return None if number is None else int(number)


def plain_scalar(value: object) -> str | int | float | bool | None:
    """Return a plain number, truth value or None as itself, and anything else as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    return plain_number(value) if isinstance(value, float) else plain_text(value)
