"""Convert judges' labels to values in 0..1: by word, or by position on a scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeGuard

from pytest_rageval.errors import did_you_mean, short_repr

if TYPE_CHECKING:
    from pytest_rageval.model.judging import Judge

__all__ = ["NUMBERS", "Worth", "is_share", "worth_of"]


@dataclass(frozen=True, slots=True)
class Worth:
    """The values of labels in 0..1: declared by word, or by position on a scale, or the number itself.

    Attributes:
        values: label -> value; an answer with the value None is unscored. Empty if labels are numbers.
        scale: the lowest number, with the value 0, and the highest number, with the value 1; only without ``values``.
            Labels are integers if both ends are ``int``.
    """

    values: Mapping[str, float | None] = field(default_factory=dict)
    scale: tuple[float, float] | None = None

    def of(self, label: str | float) -> float | None:
        """Return the value of a label; None if the answer is unscored.

        Raises:
            ValueError: the label is unknown, or the number is out of range.
        """
        if isinstance(label, str) or self.values:
            if not isinstance(label, str) or label not in self.values:
                raise ValueError(f"the label {short_repr(label)} has no value; {did_you_mean(str(label), self.values)}")
            return self.values[label]
        low, high = (0, 1) if self.scale is None else self.scale
        if not low <= label <= high:
            raise ValueError(f"the number {short_repr(label)} is not in {low}..{high}")
        return (label - low) / (high - low)

    def having(self, value: float) -> list[str | int]:
        """Return the labels with a value: words, or a number on the scale; empty if there are none."""
        if self.scale is None or not self.whole:
            return [label for label, label_value in self.values.items() if label_value == value]
        low, high = self.scale
        step = low + value * (high - low)
        return [round(step)] if abs(step - round(step)) < 1e-9 else []

    @property
    def declared(self) -> bool:
        """Whether labels have declared words or a scale, so they are not their own values."""
        return bool(self.values) or self.scale is not None

    @property
    def levels(self) -> list[float]:
        """The possible values of labels, ascending; empty if labels are any numbers in a range."""
        if self.scale is None or not self.whole:
            return sorted({value for value in self.values.values() if value is not None})
        low, high = self.scale
        return [(step - low) / (high - low) for step in range(int(low), int(high) + 1)]

    @property
    def whole(self) -> bool:
        """Whether labels are the integers of a scale."""
        return self.scale is not None and all(isinstance(end, int) for end in self.scale)


NUMBERS = Worth()
"""The values of labels that are numbers in 0..1: a label is its own value."""


def worth_of(judge: Judge) -> Worth:
    """Return the values of a judge's labels."""
    return Worth(getattr(judge, "values", None) or {}, getattr(judge, "scale", None))


def is_share(value: object) -> TypeGuard[float]:
    """Return whether ``value`` is a number in 0..1."""
    return isinstance(value, (int, float)) and 0 <= value <= 1
