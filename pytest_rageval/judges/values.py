"""What a verdict is worth: a label's value, or a number's place on its scale."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_rageval.errors import did_you_mean, found

__all__ = ["is_share", "value_of"]


def value_of(
    label: str | float, values: Mapping[str, float | None], scale: tuple[int, int] | None = None
) -> float | None:
    """Return the value in 0..1 of a verdict's label; None for a label that leaves its answer unscored.

    Args:
        label: a key of ``values``, where there are any; else a number of ``scale`` or, where that is None, in 0..1.
        values: label -> value.
        scale: the ends of the scale, which are worth 0 and 1.

    Raises:
        ValueError: there is no such label, or the number is out of its range.
    """
    if isinstance(label, str) or values:
        if not isinstance(label, str) or label not in values:
            raise ValueError(f"the label {found(label)} has no value; {did_you_mean(str(label), values)}")
        return values[label]
    low, high = (0, 1) if scale is None else scale
    if not low <= label <= high:
        raise ValueError(f"the number {found(label)} is not in {low}..{high}")
    return (label - low) / (high - low)


def is_share(value: object) -> bool:
    """Return whether ``value`` is a number in 0..1."""
    return isinstance(value, (int, float)) and 0 <= value <= 1
