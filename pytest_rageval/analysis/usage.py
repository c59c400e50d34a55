"""Read the usage of answers as pseudo-metrics, and sum up model calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from pytest_rageval.analysis.statistics import quantile
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.trace.steps import END, is_cut_short, is_timing, model_calls, tool_calls

__all__ = [
    "CALLS", "LATENCY", "UNMEASURED", "USAGE_FIELDS", "all_replayed", "calls_in_trace", "calls_of", "is_replayed",
    "is_unmeasured", "outcomes_with_answer", "summarize_usage", "usage_value",
]  # fmt: skip

USAGE_FIELDS = {
    "latency_p50": ("latency_s",),
    "latency_p95": ("latency_s",),
    "cost_usd": ("cost_usd",),
    "tokens": ("prompt_tokens", "completion_tokens"),
    "model_calls": (),
    "tool_calls": (),
}
"""Pseudo-metric of usage -> the fields of `Usage` that are summed for it; () for those in `CALLS`."""

UNMEASURED = Calls(prompt_tokens=None, completion_tokens=None, cost_usd=None, spent_usd=None)
"""The calls of a system whose calls were not observed: all sums are unknown."""

CALLS = ("model_calls", "tool_calls")
"""The pseudo-metrics that count calls in the trace; a cell shows their mean."""

LATENCY = {"latency_p50": 0.5, "latency_p95": 0.95}
"""Pseudo-metric of time -> its quantile in 0..1."""


def outcomes_with_answer(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes with an answer, whether scored or not, because each answer costs money.

    If a system raised an error, the outcome only has the steps before the error. That is not an answer.
    """
    return [
        outcome
        for outcome in outcomes
        if outcome.answer is not None and outcome.status != "skipped" and not _has_raised(outcome, outcome.answer)
    ]


def usage_value(name: str, outcome: Outcome) -> float | None:
    """Return the usage of one answer for a pseudo-metric in `USAGE_FIELDS`; None if a part of it is unknown."""
    if name in CALLS:  # an error ends a run early, so it would lower the mean
        return calls_in_trace(name, outcome.answer) if outcome.status == "scored" else None
    usage = None if outcome.answer is None else outcome.answer.usage
    parts: list[float | None] = [getattr(usage, part, None) for part in USAGE_FIELDS[name]]
    known = [part for part in parts if part is not None]
    if len(known) == len(parts):
        return sum(known)
    return usage.total_tokens if usage and name == "tokens" else None


def summarize_usage(name: str, values: Sequence[float], n_unknown: int) -> float | None:
    """Return a pseudo-metric of several answers: a quantile of times, a mean of calls, else a sum.

    Args:
        name: one of `USAGE_FIELDS`.
        values: the known usage of each answer.
        n_unknown: number of answers that do not report it. They make a sum unknown, and quantiles and means ignore
            them.
    """
    if name in LATENCY:
        return quantile(values, LATENCY[name])
    if name in CALLS:
        return fmean(values) if values else None
    return sum(values) if values and not n_unknown else None


def calls_in_trace(name: str, answer: Answer | None) -> float | None:
    """Return the number of calls of tools or of models for an answer; None if its trace does not show it.

    No call of a model in the trace counts as 0 only if the usage is zero, because most systems do not record all model
    calls. No call of a tool counts as 0, unless the trace only has the timing steps that the plugin adds.
    """
    if answer is None or not answer.trace:
        return None
    calls, usage = (tool_calls if name == "tool_calls" else model_calls)(answer.trace), answer.usage or Usage()
    is_known = name == "tool_calls" and not all(step.kind == END or is_timing(step) for step in answer.trace)
    is_free = usage.prompt_tokens == usage.completion_tokens == 0
    return float(len(calls)) if calls or is_known or is_free else None


def all_replayed(outcomes: Sequence[Outcome]) -> bool:
    """Return whether all answers came from recordings, so that no time was measured.

    Answers of a user's own system are replayed without a model call.
    """
    return bool(outcomes) and all(map(is_replayed, outcomes))


def is_replayed(outcome: Outcome) -> bool:
    """Return whether an answer came from a recording."""
    calls = outcome.calls
    no_call = calls is not None and (calls.replayed > 0 or calls.attempts == 0)
    return no_call and usage_value("latency_p50", outcome) is None


def is_unmeasured(outcome: Outcome) -> bool:
    """Return whether the calls of an outcome are unknown: its system ran, and no call was observed or reported."""
    if outcome.status == "skipped" or outcome.error_type in ("setup_error", "system_build"):
        return False
    if outcomes_with_answer([outcome]) and is_replayed(outcome):
        return False
    return not (outcome.calls is not None and outcome.calls.calls) and usage_value("cost_usd", outcome) is None


def calls_of(outcomes: Iterable[Outcome], unclaimed: Calls) -> Calls:
    """Return the sum of the model calls; if a part is unknown, the sum is unknown.

    If the calls of an outcome were not counted, the calls in the trace of its answer count. Without calls in the trace,
    the answer counts as one call with one attempt, or as none if it took zero tokens, such as the embedded reader's.

    Args:
        outcomes: the outcomes.
        unclaimed: calls that belong to no outcome.
    """
    total = unclaimed
    for outcome in outcomes:
        if outcome.calls is not None:
            total += outcome.calls
        elif outcome.answer is not None:
            total += _estimated_calls(outcome.answer)
    return total


def _has_raised(outcome: Outcome, answer: Answer) -> bool:
    return outcome.status == "error" and answer.usage is None and is_cut_short(answer.trace)


def _estimated_calls(answer: Answer) -> Calls:
    usage = answer.usage or Usage()
    calls = len(model_calls(answer.trace)) or (0 if usage.prompt_tokens == usage.completion_tokens == 0 else 1)
    cost = usage.cost_usd
    return Calls(calls, 0, calls, usage.prompt_tokens, usage.completion_tokens, cost, cost)
