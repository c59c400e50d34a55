"""Turn a value into JSON values of bounded size and depth."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

__all__ = ["NotJsonError", "bounded"]

LONGEST_INTEGER = 14_000
"""Bits of the largest integer: Python writes integers of up to 4,300 digits."""

_TEXTS = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal)


class NotJsonError(ValueError):
    """The value cannot cross as JSON; the message completes "the value ..."."""


def bounded(value: object, most: int, depth: int) -> Any:
    """Return ``value`` as JSON values: tuples and sets become lists, dates and decimals text.

    It reads no more of the value than fits.

    Args:
        value: any value.
        most: bytes that its JSON may have, about.
        depth: how deep lists and objects may be nested.

    Raises:
        NotJsonError: the value is larger, deeper, or of another type.
    """
    return _Walk(most, depth).turn(value, depth)


class _Walk:
    """One walk over a value, which counts its bytes."""

    def __init__(self, most: int, depth: int) -> None:
        self.most, self.depth = most, depth
        self.left = most

    def turn(self, value: object, depth: int) -> Any:
        self.spend(1)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (int, float)):
            return self.number(value)
        if isinstance(value, _TEXTS):
            return self.text(str(value))
        return self.nested(value, depth - 1)

    def nested(self, value: object, depth: int) -> Any:
        if depth < 0:
            raise NotJsonError(f"is nested more than {self.depth} deep")
        if isinstance(value, dict):
            return {self.key(key): self.turn(each, depth) for key, each in value.items()}
        if isinstance(value, (set, frozenset)):
            return sorted((self.turn(each, depth) for each in value), key=repr)
        if isinstance(value, (list, tuple)):
            return [self.turn(each, depth) for each in value]
        raise NotJsonError(f"is not JSON but of the type {type(value).__name__}")

    def key(self, key: object) -> str:
        if isinstance(key, str):
            return self.text(key)
        if key is None or isinstance(key, (bool, int, float)):
            return self.text(str(key))
        raise NotJsonError(f"has a key that is not text but of the type {type(key).__name__}")

    def text(self, text: str) -> str:
        self.spend(len(text))
        if not text.isascii():
            self.spend(len(text.encode("utf-8", "surrogatepass")) - len(text))
        return text

    def number(self, number: float) -> float:
        if isinstance(number, int):
            if number.bit_length() > LONGEST_INTEGER:
                raise NotJsonError("has an integer of more than 4,000 digits")
            self.spend(number.bit_length() // 3)
        elif not math.isfinite(number):
            raise NotJsonError(f"holds {number}, which is not JSON")
        return number

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise NotJsonError(f"is larger than {_size(self.most)}")


def _size(most: int) -> str:
    return f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
