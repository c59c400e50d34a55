"""Fail gates over stale labels: chunk ids whose text differs from the baseline."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.analysis.clusters import by_case
from pytest_rageval.metrics.rankings.ranked_passages import STALE_LABELS
from pytest_rageval.model.outcome import Outcome

__all__ = ["has_stale_score", "stale_text"]


def has_stale_score(outcome: Outcome) -> bool:
    """Return whether a metric has no value because the labels of the case are stale."""
    return STALE_LABELS in outcome.scores.values()


def stale_text(metric: str, covered: Sequence[Outcome]) -> str:
    """Return why a gate fails over cases with stale labels, and what to do; "" without such cases."""
    stale = len(by_case(outcome for outcome in covered if outcome.scores.get(metric) == STALE_LABELS))
    if not stale:
        return ""
    where = f"stale labels in {stale} of {len(by_case(covered))} cases"
    return f"{where} (turn them into quotes with rageval anchor): their ids name other text than in the baseline"
