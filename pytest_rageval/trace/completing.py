"""Complete an answer from its trace: the steps that were collected, its end, its ranking and its usage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.plain import plain_json, plain_text
from pytest_rageval.trace.collector import Collector
from pytest_rageval.trace.duplicates import without_duplicates
from pytest_rageval.trace.passages import ranking_of_trace
from pytest_rageval.trace.steps import END, FINISHED, OUTAGES, RETRIEVE, end_of, end_reason, is_timing, model_calls

__all__ = ["completed", "outage_of", "steps_before_error", "usage_of_trace"]


def completed(answer: Answer, collector: Collector | None = None) -> Answer:
    """Return an answer with its trace and, if it has none of its own, the ranking of the trace's passages.

    Steps that the answer contains win over collected ones, unless they only say how long our own retrieval and
    generation took. The last step says how the run ended. An answer without any step stays without.
    """
    if not answer.trace and (collector is None or not collector.events):
        return answer
    trace = tuple(answer.trace)
    if collector is not None and collector.events and all(map(is_timing, trace)):
        trace = _timed(trace, without_duplicates(collector).steps())
    if not trace:
        return answer
    trace = _ended([_plain_step(step) for step in trace], answer.text)
    ranking = ranking_of_trace(trace) if answer.ranking is None else answer.ranking
    return replace(answer, trace=trace, ranking=ranking)


def steps_before_error(collector: Collector) -> tuple[Step, ...]:
    """Return the collected steps of a run that raised; the step "end" is missing unless the system recorded it."""
    return tuple(map(_plain_step, without_duplicates(collector).steps()))


def usage_of_trace(trace: Sequence[Step]) -> Usage:
    """Return the sum over the calls of models; a part that one call does not report is unknown."""
    if not trace:
        return Usage()
    calls = [step.detail for step in model_calls(trace)]
    tokens = [_total([call.get(key) for call in calls]) for key in ("prompt_tokens", "completion_tokens")]
    whole = [None if total is None else int(total) for total in tokens]
    return Usage(whole[0], whole[1], _total([call.get("cost_usd") for call in calls]))


def outage_of(trace: Sequence[Step]) -> tuple[str, str] | None:
    """Return the reason and the detail of an outage that ended the run; None if it ended in another way."""
    if not trace:
        return None
    reason, end = end_reason(trace), end_of(trace)
    return (reason, str(end.detail.get("detail") or "")) if end is not None and reason in OUTAGES else None


def _plain_step(step: Step) -> Step:
    """Return a step of JSON builtins; values that cannot be read at all become one text."""
    detail = plain_json(step.detail)
    return Step(plain_text(step.kind), detail if isinstance(detail, dict) else {"detail": detail})


def _timed(stages: Sequence[Step], collected: Sequence[Step]) -> tuple[Step, ...]:
    """Return collected steps between the stages retrieval and generation; a collected search stands for ours."""
    ours = [step for step in stages if step.kind == RETRIEVE]
    own = next((place for place, step in enumerate(collected) if step.kind == RETRIEVE), None)
    steps = list(collected)
    if ours and own is not None:
        steps[own] = Step(RETRIEVE, {**ours[0].detail, **steps[own].detail})
        ours = []
    rest = [step for step in stages if step.kind != RETRIEVE]
    index = {place: place + len(ours) for place in range(len(steps))}
    return (*ours, *(_moved(step, index) for step in steps), *rest)


def _ended(trace: Sequence[Step], text: str) -> tuple[Step, ...]:
    """Return the steps with one step "end", the last; of several, the last one counts."""
    end = end_of(trace)
    if end is None:
        reason = FINISHED if text.strip() else "empty_answer"
        return (*trace, Step(END, {"reason": reason}))
    places = [place for place, step in enumerate(trace) if step.kind != END]
    index = {place: at for at, place in enumerate(places)}
    return (*(_moved(trace[place], index) for place in places), _moved(end, index))


def _moved(step: Step, index: dict[int, int]) -> Step:
    """Return a step whose parent is at another place; ``index`` has the new places."""
    parent = step.detail.get("parent")
    if type(parent) is not int or index.get(parent) == parent:
        return step
    rest = {key: value for key, value in step.detail.items() if key != "parent"}
    return Step(step.kind, {**rest, "parent": index[parent]} if parent in index else rest)


def _total(values: Sequence[Any]) -> float | None:
    """Return the sum of amounts; None if there is none, or if one is unknown."""
    known = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0]
    return sum(known) if known and len(known) == len(values) else None
