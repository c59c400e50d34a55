"""Draws that depend on nothing but a key: the same on every machine, and none moves another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

__all__ = ["Chance"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chance:
    """The draws about one thing.

    Attributes:
        key: names the thing, such as ``0/person/17``. Each draw has a name, too, so a new draw changes no other.
    """

    key: str

    def digits(self, what: str, count: int) -> str:
        """Return hexadecimal digits, at most 64."""
        return sha256(f"{self.key}/{what}".encode()).hexdigest()[:count]

    def number(self, what: str, below: int) -> int:
        """Return a whole number in ``0..below-1``."""
        return int(self.digits(what, 16), 16) % below

    def pick(self, what: str, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.number(what, len(items))]

    def several(self, what: str, items: Sequence[T], count: int) -> list[T]:
        """Return different items in random order; all of them if there are no more than ``count``."""
        left = list(items)
        return [left.pop(self.number(f"{what}/{at}", len(left))) for at in range(min(count, len(left)))]
