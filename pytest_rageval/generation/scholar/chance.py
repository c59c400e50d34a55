"""Random draws that depend only on a key: reproducible, and independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

__all__ = ["Chance"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chance:
    """Random draws for one object.

    Attributes:
        key: names the object, such as ``0/person/17``. Each draw also has a name, so a new draw changes no other.
    """

    key: str

    def digits(self, draw: str, count: int) -> str:
        """Return ``count`` hexadecimal digits, at most 64."""
        return sha256(f"{self.key}/{draw}".encode()).hexdigest()[:count]

    def number(self, draw: str, below: int) -> int:
        """Return a whole number in ``0..below-1``."""
        return int(self.digits(draw, 16), 16) % below

    def pick(self, draw: str, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.number(draw, len(items))]

    def several(self, draw: str, items: Sequence[T], count: int) -> list[T]:
        """Return up to ``count`` different items in random order."""
        remaining = list(items)
        return [remaining.pop(self.number(f"{draw}/{at}", len(remaining))) for at in range(min(count, len(remaining)))]
