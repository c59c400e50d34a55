"""The Pareto front of systems over quality, time and cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Point", "fronts"]

_ALIKE = 1e-9  # values closer than this differ only by rounding


class Point(NamedTuple):
    """The quality of a system, and its seconds and cost; None is unknown."""

    quality: float | None
    seconds: float | None
    cost_usd: float | None


def fronts(points: Mapping[str, Point], *, higher_is_better: bool = True) -> dict[str, tuple[str, ...]]:
    """Return the systems that dominate each system; empty for a system on the front.

    A system dominates another if it is better in at least one of quality, seconds and cost, and worse in none. A
    dimension that is unknown for either system is ignored. A system without a quality dominates none and is dominated
    by none.
    """
    rated = {name: point for name, point in points.items() if point.quality is not None}
    return {
        name: tuple(other for other in rated if _dominates(rated[other], point, higher_is_better=higher_is_better))
        if name in rated
        else ()
        for name, point in points.items()
    }


def _dominates(one: Point, other: Point, *, higher_is_better: bool) -> bool:
    gains = [
        (value - other_value) * (1 if at == 0 and higher_is_better else -1)
        for at, (value, other_value) in enumerate(zip(one, other, strict=True))
        if value is not None and other_value is not None
    ]
    return all(gain >= -_ALIKE for gain in gains) and any(gain > _ALIKE for gain in gains)
