"""How many cases a drop needs to be shown, as two runs tell that scores change."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.analysis.comparison import Compared, Comparison
from pytest_rageval.analysis.planning import cases_needed

__all__ = ["Sensitivity", "sensitivity_of"]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What a testbed's primary metric can show under a system.

    Attributes:
        compared: the metric over all cases; its ``found`` has the cases at hand and the least drop that they show.
        needed: how many cases show the wanted drop with 80 % power; None where no number does.
    """

    compared: Compared
    needed: int | None


def sensitivity_of(comparison: Comparison, drop: float, *, alpha: float) -> list[Sensitivity]:
    """Return of each primary metric what shows a drop, in 0..1, where as much changes as between these two runs."""
    return [
        Sensitivity(each, cases_needed(drop, changing=each.found.changing, step=each.found.step, alpha=alpha))
        for each in comparison.overall
        if comparison.is_primary(each)
    ]
