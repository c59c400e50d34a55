"""Complete an answer from its trace: the steps that were collected, its ranking and its usage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.trace.collector import Collector
from pytest_rageval.trace.passages import ranking_of_trace
from pytest_rageval.trace.steps import model_calls

__all__ = ["completed", "usage_of_trace"]


def completed(answer: Answer, collector: Collector | None = None) -> Answer:
    """Return an answer with the collected steps, and their ranking if it has none; its own steps win."""
    trace = answer.trace or (() if collector is None else collector.steps())
    if not trace:
        return answer
    ranking = ranking_of_trace(trace) if answer.ranking is None else answer.ranking
    return replace(answer, trace=trace, ranking=ranking)


def usage_of_trace(trace: Sequence[Step]) -> Usage:
    """Return the sum over the calls of models; a part that one call does not report is unknown."""
    calls = model_calls(trace)
    return Usage(_sum(calls, "prompt_tokens"), _sum(calls, "completion_tokens"))


def _sum(calls: Sequence[Step], key: str) -> int | None:
    amounts = [call.detail.get(key) for call in calls]
    known = [amount for amount in amounts if isinstance(amount, int)]
    return sum(known) if calls and len(known) == len(calls) else None
