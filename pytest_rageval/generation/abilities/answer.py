"""A gold answer that a rule can change: what every kind of answer offers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Literal, Protocol, TypeVar

from pytest_rageval.generation.abilities.edit import Drop, Edit

__all__ = ["Answer", "Kind"]

Kind = Literal["number", "money", "date", "time", "name"]

Value = TypeVar("Value")


class Answer(Protocol[Value]):
    """One slot of a gold answer, read as a value of a kind. Each kind has a type of values of its own."""

    @property
    def kind(self) -> Kind:
        """The kind of value."""
        ...

    def others(self, random: Random) -> Iterator[Value]:
        """Yield other values of the same kind, form and scale, in random order, at most a few dozen."""
        ...

    def value_of(self, text: str) -> Value | None:
        """Return the value that ``text`` states in the form of the answer; None if it states none."""
        ...

    def fakes(self, value: Value) -> tuple[str, ...]:
        """Return the aliases of the slot with another value, each in its own form, if that form can hold it."""
        ...

    def edits(self, text: str, value: Value) -> tuple[Edit, ...] | Drop:
        """Return the edits of every span that states the answer; none if no span does."""
        ...

    def left_in(self, text: str) -> bool:
        """Return whether ``text`` states the answer in any form that a rule can read."""
        ...

    def states(self, text: str, value: Value) -> bool:
        """Return whether ``text`` states another value in any form that a rule can read."""
        ...
