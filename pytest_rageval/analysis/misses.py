"""Decide whether a case missed, which the terminal shows as ``m``."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.metrics.answers.stable import BY_RULE, STABLE
from pytest_rageval.model.facets import RELATION
from pytest_rageval.model.outcome import Outcome

__all__ = ["bound_of", "is_miss"]


def is_miss(outcome: Outcome, primary: str, higher_is_better: bool, gates: Sequence[Gate]) -> bool:
    """Return whether a scored case misses by its testbed's primary metric.

    If a gate bounds that metric over the whole testbed, a case misses if its own value would not hold the gate.
    Without such a gate it misses if its value is the worst possible one. A variant that should change the answer, such
    as one without evidence, misses if the answer did not change as expected.
    """
    if outcome.facets.get(RELATION) in BY_RULE:
        stable = outcome.scores.get(STABLE.name)
        return stable is not None and stable.value is not None and stable.value < 1
    score = outcome.scores.get(primary)
    if outcome.status != "scored" or score is None or score.value is None:
        return False
    gate = bound_of(primary, gates)
    if gate is not None:
        return not gate.holds(score.value)
    return score.value <= 0 if higher_is_better else score.value >= 1


def bound_of(primary: str, gates: Sequence[Gate]) -> Gate | None:
    """Return the gate that bounds a metric over the whole testbed; None if there is none."""
    return next((each for each in gates if each.metric == primary and not each.slice and not each.baseline), None)
