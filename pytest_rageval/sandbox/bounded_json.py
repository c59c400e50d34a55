"""Convert a value to JSON values of limited size and depth."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

__all__ = ["NotJsonError", "to_bounded_json"]

MAX_INTEGER_BITS = 14_000
"""Maximum length of an integer, in bits: Python writes integers of up to 4,300 digits."""

_TEXTS = (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal)


class NotJsonError(ValueError):
    """The value cannot be sent as JSON; the message continues a sentence such as "the value ..."."""


def to_bounded_json(value: object, max_bytes: int, depth: int) -> Any:
    """Return ``value`` as JSON values: tuples and sets become lists, dates and decimals become texts.

    Stop reading the value as soon as a limit is exceeded.

    Args:
        value: any value.
        max_bytes: maximum size of its JSON, approximately.
        depth: maximum nesting of lists and objects.

    Raises:
        NotJsonError: the value exceeds a limit, or has a type that is not JSON.
    """
    return _Converter(max_bytes, depth).convert(value, depth)


class _Converter:
    """Converts one value, and counts its bytes."""

    def __init__(self, max_bytes: int, depth: int) -> None:
        self.max_bytes, self.depth = max_bytes, depth
        self.remaining = max_bytes

    def convert(self, value: object, depth: int) -> Any:
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
            return {self.key(key): self.convert(each, depth) for key, each in value.items()}
        if isinstance(value, (set, frozenset)):
            return sorted((self.convert(each, depth) for each in value), key=repr)
        if isinstance(value, (list, tuple)):
            return [self.convert(each, depth) for each in value]
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
            if number.bit_length() > MAX_INTEGER_BITS:
                raise NotJsonError("has an integer of more than 4,000 digits")
            self.spend(number.bit_length() // 3)
        elif not math.isfinite(number):
            raise NotJsonError(f"holds {number}, which is not JSON")
        return number

    def spend(self, size: int) -> None:
        self.remaining -= size
        if self.remaining < 0:
            raise NotJsonError(f"is larger than {_size(self.max_bytes)}")


def _size(max_bytes: int) -> str:
    return f"{max_bytes >> 20} MiB" if max_bytes >= 1 << 20 else f"{max_bytes >> 10} KiB"
