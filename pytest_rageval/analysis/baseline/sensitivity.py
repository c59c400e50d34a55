"""Estimate how many cases find a drop, from the changes of scores between two runs."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.analysis.baseline.comparison import Comparison, MetricComparison
from pytest_rageval.analysis.baseline.power import cases_needed

__all__ = ["Sensitivity", "sensitivity_of"]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The drop that a testbed's primary metric can find under a system.

    Attributes:
        comparison: the metric over all cases; its ``test`` has their number and their smallest detectable drop.
        needed: number of cases that find the drop with 80 % power; None if no number does.
    """

    comparison: MetricComparison
    needed: int | None


def sensitivity_of(comparison: Comparison, drop: float, *, alpha: float) -> list[Sensitivity]:
    """Return the number of cases that each primary metric needs to find a drop, if scores change as in these runs.

    Args:
        comparison: the two runs.
        drop: the drop to find, in 0..1.
        alpha: level of the one-sided test.
    """
    return [
        Sensitivity(each, cases_needed(drop, changing=each.test.changing, step=each.test.step, alpha=alpha))
        for each in comparison.overall
        if comparison.is_primary(each)
    ]
