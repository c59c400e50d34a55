"""What answers used, as pseudo-metrics, and what models were asked, as one sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_rageval.analysis.statistics import quantile
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Outcome

__all__ = ["LATENCY", "USED", "all_replayed", "amount", "answered", "calls_of", "is_replayed", "used"]

USED = {
    "latency_p50": ("latency_s",),
    "latency_p95": ("latency_s",),
    "cost_usd": ("cost_usd",),
    "tokens": ("prompt_tokens", "completion_tokens"),
}
"""The pseudo-metrics of what answers used, and the parts of a usage that make each."""

LATENCY = {"latency_p50": 0.5, "latency_p95": 0.95}
"""The pseudo-metrics of time, and the quantile that each is."""


def answered(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes that have an answer; it was paid for, whether or not it could be scored."""
    return [outcome for outcome in outcomes if outcome.answer is not None and outcome.status != "skipped"]


def used(name: str, outcome: Outcome) -> float | None:
    """Return what one answer used of a pseudo-metric in `USED`; None when a part of it is unknown."""
    usage = None if outcome.answer is None else outcome.answer.usage
    parts: list[float | None] = [getattr(usage, part, None) for part in USED[name]]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def amount(name: str, values: Sequence[float], n_unknown: int) -> float | None:
    """Return a pseudo-metric of answers.

    Args:
        name: one of `USED`.
        values: what the answers used of it, as far as that is known.
        n_unknown: how many answers do not tell it. A sum is unknown then; a quantile is over those that do.
    """
    if name in LATENCY:
        return quantile(values, LATENCY[name])
    return sum(values) if values and not n_unknown else None


def all_replayed(outcomes: Sequence[Outcome]) -> bool:
    """Return whether every answer came from recordings, so that none took a time worth measuring.

    What a user's own system answers is replayed without a call of a model.
    """
    return bool(outcomes) and all(map(is_replayed, outcomes))


def is_replayed(outcome: Outcome) -> bool:
    """Return whether an answer came from a recording."""
    calls = outcome.calls
    no_call = calls is not None and (calls.replayed > 0 or calls.attempts == 0)
    return no_call and used("latency_p50", outcome) is None


def calls_of(outcomes: Iterable[Outcome], unclaimed: Calls) -> Calls:
    """Return the sum of what models were asked; an unknown part makes a sum unknown, not smaller.

    Of an outcome whose calls were not counted, an answer that took tokens, or may have, is a call of one attempt;
    the embedded reader's is none.

    Args:
        outcomes: the outcomes.
        unclaimed: calls that belong to none of them.
    """
    total = unclaimed
    for outcome in outcomes:
        if outcome.calls is not None:
            total += outcome.calls
        elif outcome.answer is not None:
            total += _as_told(outcome.answer.usage or Usage())
    return total


def _as_told(usage: Usage) -> Calls:
    calls = 0 if usage.prompt_tokens == usage.completion_tokens == 0 else 1
    cost = usage.cost_usd
    return Calls(calls, 0, calls, usage.prompt_tokens, usage.completion_tokens, cost, cost)
