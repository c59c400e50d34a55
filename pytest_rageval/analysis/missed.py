"""Decide whether a case missed, which the terminal shows as ``m``."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.model.outcome import Outcome

__all__ = ["missed"]


def missed(outcome: Outcome, primary: str, higher_is_better: bool, gates: Sequence[Gate]) -> bool:
    """Return whether a scored case misses on its testbed's primary metric.

    If a gate bounds that metric over the whole testbed, a case misses if its own value would not hold the gate.
    Without such a gate it misses if its value is the worst possible one.
    """
    score = outcome.scores.get(primary)
    if outcome.status != "scored" or score is None or score.value is None:
        return False
    for gate in gates:
        if gate.metric == primary and not gate.slice and not gate.baseline:
            return not gate.holds(score.value)
    return score.value <= 0 if higher_is_better else score.value >= 1
