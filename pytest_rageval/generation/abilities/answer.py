"""The protocol of gold answers that a rule can change: numbers, money, dates, times, names."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Literal, Protocol, TypeVar

from pytest_rageval.generation.abilities.edit import Drop, Edit

__all__ = ["Answer", "Kind"]

Kind = Literal["number", "money", "date", "time", "name"]

Value = TypeVar("Value")


class Answer(Protocol[Value]):
    """One slot of a gold answer, parsed as a value of one kind. Each kind has its own value type."""

    @property
    def kind(self) -> Kind:
        """The kind of value."""
        ...

    def others(self, random: Random) -> Iterator[Value]:
        """Yield other values of the same kind, form and scale, in random order, at most a few dozen."""
        ...

    def value_of(self, text: str) -> Value | None:
        """Return the value that ``text`` states in the form of the gold answer; None if it states none."""
        ...

    def fakes(self, value: Value) -> tuple[str, ...]:
        """Return the aliases with ``value`` instead of the gold value; drop aliases whose form cannot state it."""
        ...

    def edits(self, text: str, value: Value) -> tuple[Edit, ...] | Drop:
        """Return edits that replace the gold answer by ``value`` in every span that states it; () if no span does."""
        ...

    def gold_is_in(self, text: str) -> bool:
        """Return whether ``text`` states the gold answer in any form that a rule can read."""
        ...

    def value_is_in(self, text: str, value: Value) -> bool:
        """Return whether ``text`` states ``value`` in any form that a rule can read."""
        ...
