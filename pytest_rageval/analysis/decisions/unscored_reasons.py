"""Explain why outcomes have no value for a gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.clusters import by_case
from pytest_rageval.analysis.corrected_cases import LabelsUsed
from pytest_rageval.analysis.corrected_mean import FEWEST
from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.usage import LATENCY, USAGE_FIELDS, outcomes_with_answer, usage_value
from pytest_rageval.model.facets import KNEW
from pytest_rageval.model.outcome import Outcome, Score

__all__ = [
    "NOT_ASKED", "TOO_FEW_LABELS", "n_lost", "nothing_scored", "reasons_of", "too_few_labels", "too_few_scored",
    "unasked_of", "unscored_of", "why_knew_undecided",
]  # fmt: skip

NOT_ASKED = "not_asked"
"""The error_type of a case that was not asked because its system is broken; a gate that covers it fails."""

BUDGET = "budget"
"""The error_type of a case that was not asked because the budget forbids it; a gate that covers it fails."""

NOT_APPLICABLE = "not_applicable"

_TOLERANCE = 1e-9

TOO_FEW_LABELS = "too_few_labels"
"""Reason for which a corrected mean has no value: people labelled too few answers."""

REPORTED = {
    "cost_usd": "cost",
    "tokens": "tokens",
    "model_calls": "calls of models",
    "tool_calls": "trace",
} | dict.fromkeys(LATENCY, "time")
"""Pseudo-metric in `USAGE_FIELDS` -> what an answer must report for it, in words."""


def n_lost(metric: str, covered: Sequence[Outcome]) -> int:
    """Return how many cases lack a value that they should have, because of an error or a missing verdict."""
    applicable = [o for o in covered if o.status != "skipped" and not _is_not_applicable(o.scores.get(metric))]
    return sum(cell_of(metric, False, runs).n == 0 for runs in by_case(applicable).values())


def _is_not_applicable(score: Score | None) -> bool:
    return score is not None and score.reason is not None and score.reason.partition(":")[0] == NOT_APPLICABLE


def unasked_of(covered: Sequence[Outcome]) -> str:
    """Return a sentence on the cases that were not asked, with the reason; "" if all were asked."""
    unasked = [outcome for outcome in covered if outcome.error_type in (NOT_ASKED, BUDGET)]
    cases = "1 case was" if len(unasked) == 1 else f"{len(unasked)} cases were"
    return f"{cases} not asked: {unasked[0].error}" if unasked else ""


def why_knew_undecided(gate: Gate, possible: Sequence[Outcome], n_covered: int) -> str:
    """Return why a gate over the facet ``knew`` (the model knew the answer) is undecided; "" if it can be decided.

    Args:
        gate: the gate. The cases that it covers are only known after the model was asked without passages.
        possible: the outcomes that it may cover.
        n_covered: the number of outcomes that it covers.
    """
    unknown = [outcome for outcome in possible if KNEW not in outcome.facets]
    unasked = unasked_of(unknown)
    if unasked or n_covered:
        return unasked
    if len(unknown) < len(possible):
        return f"nothing was scored: no case of {len(possible)} has {KNEW}={gate.slice[KNEW]}"
    why = reasons_of("closed_book_accuracy", unknown)
    return f"nothing was scored: no case of {len(possible)} shows whether the model knew the answer{why}"


def unscored_of(metric: str, covered: Sequence[Outcome]) -> dict[str, int]:
    """Return reason -> number of answers without a value, the most frequent first, without "not_applicable"."""
    scores = (outcome.scores.get(metric) for outcome in covered if outcome.status == "scored")
    reasons = Counter(score.reason.partition(":")[0] for score in scores if score is not None and score.reason)
    return {reason: n for reason, n in reasons.most_common() if reason != NOT_APPLICABLE}


def too_few_scored(n: int, unscored: Mapping[str, int], least: float) -> str:
    """Return why too few answers have a value for the gate to hold; "" if there are enough.

    Args:
        n: number of answers with a value.
        unscored: reason -> number of answers without a value, from `unscored_of`.
        least: smallest accepted share of answers with a value; cases to which the metric does not apply do not count.
    """
    total = n + sum(unscored.values())
    if n + _TOLERANCE >= least * total:
        return ""
    reasons = ", ".join(f"{many} unscored ({reason})" for reason, many in unscored.items())
    return f"too few scored, {n} of {total}: {reasons} (rag_min_compared = {least:g})"


def nothing_scored(gate: Gate, covered: Sequence[Outcome]) -> str:
    """Return why a gate has no value."""
    errors = sum(outcome.status == "error" for outcome in covered)
    answers = outcomes_with_answer(covered)
    if gate.metric in USAGE_FIELDS and answers:
        unknown = sum(usage_value(gate.metric, outcome) is None for outcome in answers)
        lacking = f"{unknown} of {len(answers)} answers report no {REPORTED[gate.metric]}"
        return f"{gate.metric} is unknown, because {lacking}"
    return f"nothing was scored: {len(covered)} cases, {errors} errors{reasons_of(gate.metric, covered)}"


def too_few_labels(labels: LabelsUsed) -> str:
    """Return why a corrected mean has no value."""
    return f"{TOO_FEW_LABELS}, {labels.n} of {FEWEST} (people's labels of the system's answers)"


def reasons_of(metric: str, covered: Sequence[Outcome]) -> str:
    """Return up to three reasons of outcomes without a value, in brackets; "" without such outcomes."""
    reasons = sorted({s.reason for o in covered if (s := o.scores.get(metric)) is not None and s.reason})
    return f" ({'; '.join(reasons[:3])})" if reasons else ""
