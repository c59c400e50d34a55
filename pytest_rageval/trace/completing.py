"""Complete an answer from its trace: collected steps, end of the run, ranking and usage."""

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

__all__ = ["complete_answer", "outage_of", "steps_before_error", "usage_of_trace"]


def complete_answer(answer: Answer, collector: Collector | None = None) -> Answer:
    """Return an answer with its trace and, if it has no ranking, with the ranking of the trace's passages.

    Steps in the answer take precedence over collected steps, unless they only time the stages retrieval and generation.
    The last step says how the run ended. An answer without steps does not change.
    """
    if not answer.trace and (collector is None or not collector.events):
        return answer
    trace = tuple(answer.trace)
    if collector is not None and collector.events and all(map(is_timing, trace)):
        trace = _with_stages(trace, without_duplicates(collector).steps())
    if not trace:
        return answer
    trace = _with_end([_plain_step(step) for step in trace], answer.text)
    ranking = ranking_of_trace(trace) if answer.ranking is None else answer.ranking
    return replace(answer, trace=trace, ranking=ranking)


def steps_before_error(collector: Collector) -> tuple[Step, ...]:
    """Return the collected steps of a run that raised; the step "end" is missing unless the system recorded it."""
    return tuple(map(_plain_step, without_duplicates(collector).steps()))


def usage_of_trace(trace: Sequence[Step]) -> Usage:
    """Return the sum over all model calls; a figure is unknown if one call does not report it."""
    if not trace:
        return Usage()
    calls = [step.detail for step in model_calls(trace)]
    tokens = [_total([call.get(key) for call in calls]) for key in ("prompt_tokens", "completion_tokens")]
    prompt, completion = (None if total is None else int(total) for total in tokens)
    return Usage(prompt, completion, _total([call.get("cost_usd") for call in calls]))


def outage_of(trace: Sequence[Step]) -> tuple[str, str] | None:
    """Return the reason and the detail of an outage that ended the run; None if it ended in another way."""
    if not trace:
        return None
    reason, end = end_reason(trace), end_of(trace)
    return (reason, str(end.detail.get("detail") or "")) if end is not None and reason in OUTAGES else None


def _plain_step(step: Step) -> Step:
    """Return a step with JSON values only; a detail that JSON cannot represent becomes one text."""
    detail = plain_json(step.detail)
    return Step(plain_text(step.kind), detail if isinstance(detail, dict) else {"detail": detail})


def _with_stages(stages: Sequence[Step], collected: Sequence[Step]) -> tuple[Step, ...]:
    """Return the collected steps between the stages retrieval and generation.

    A collected search replaces the stage retrieval, and gets its details.
    """
    retrieval = [step for step in stages if step.kind == RETRIEVE]
    search = next((place for place, step in enumerate(collected) if step.kind == RETRIEVE), None)
    steps = list(collected)
    if retrieval and search is not None:
        steps[search] = Step(RETRIEVE, {**retrieval[0].detail, **steps[search].detail})
        retrieval = []
    rest = [step for step in stages if step.kind != RETRIEVE]
    index = {place: place + len(retrieval) for place in range(len(steps))}
    return (*retrieval, *(_with_new_parent(step, index) for step in steps), *rest)


def _with_end(trace: Sequence[Step], text: str) -> tuple[Step, ...]:
    """Return the steps with exactly one step "end" in the last place; of several, the last one counts."""
    end = end_of(trace)
    if end is None:
        reason = FINISHED if text.strip() else "empty_answer"
        return (*trace, Step(END, {"reason": reason}))
    places = [place for place, step in enumerate(trace) if step.kind != END]
    index = {place: at for at, place in enumerate(places)}
    return (*(_with_new_parent(trace[place], index) for place in places), _with_new_parent(end, index))


def _with_new_parent(step: Step, index: dict[int, int]) -> Step:
    """Return a step with the new place of its parent; ``index`` maps old to new places."""
    parent = step.detail.get("parent")
    if type(parent) is not int or index.get(parent) == parent:
        return step
    rest = {key: value for key, value in step.detail.items() if key != "parent"}
    return Step(step.kind, {**rest, "parent": index[parent]} if parent in index else rest)


def _total(values: Sequence[Any]) -> float | None:
    """Return the sum of amounts; None if there are none, or if one is unknown."""
    valid = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0]
    return sum(valid) if valid and len(valid) == len(values) else None
