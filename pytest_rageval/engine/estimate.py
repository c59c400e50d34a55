"""Estimate the model calls of a session before it runs: number, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_rageval.engine.inputs import inputs_of
from pytest_rageval.engine.planned import Planned, PlannedCall, Pricing
from pytest_rageval.engine.task import Task
from pytest_rageval.systems.prompting import Prompts, closed_book_messages, messages_for

__all__ = ["ASSUMED_REPLY", "Estimate", "estimates", "models_of"]

ASSUMED_REPLY = 256
"""Tokens of a reply if ``max_tokens`` does not limit it."""

BUILT_IN = {"llm": messages_for, "closed_book": closed_book_messages}
"""The built-in systems that ask the session's model once for each case -> their messages."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The calls of one kind that one testbed would make under one system.

    Attributes:
        testbed: the testbed's node id.
        system: the system's name.
        what: "answer", "each document", "closed book", or a judge's name.
        model: the model's name; "" if it is not a model of the session.
        cases: number of cases.
        calls: number of calls; None if a user's code makes them.
        recorded: number of calls that would be replayed.
        prompt_tokens: tokens of the prompts that would be sent.
        completion_tokens: upper bound for the tokens of the replies.
        counted: whether ``calls`` is exact; otherwise it is an upper bound.
        exact: whether the prompts are final, and the model's own tokenizer counted them.
        bounded: whether ``max_tokens`` limits the replies; otherwise their length is assumed.
        cost_usd: upper bound for the cost; None if a price is unknown.
    """

    testbed: str
    system: str
    what: str
    model: str
    cases: int = 0
    calls: int | None = 0
    recorded: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    counted: bool = True
    exact: bool = True
    bounded: bool = True
    cost_usd: float | None = 0.0


def estimates(planned: Sequence[Planned], prompts: Prompts) -> list[Estimate]:
    """Return the calls of the tasks by testbed, system, purpose and model; ``prompts`` are those of our systems."""
    result: dict[tuple[str, str, str, str], Estimate] = {}
    for plan in planned:
        for call in (_answer(plan, prompts), *_input_calls(plan, prompts)):
            name = call.model.name if isinstance(call.model, Pricing) else call.model or ""
            key = (plan.task.testbed, plan.task.system, call.what, name)
            result[key] = _add(result.get(key) or Estimate(*key), call, plan.task)
    return list(result.values())


def models_of(plan: Planned, prompts: Prompts) -> Iterator[tuple[Pricing, bool]]:
    """Yield each known model that a task asks, and whether it is the model behind our systems."""
    for call in (_answer(plan, prompts), *_input_calls(plan, prompts)):
        if isinstance(call.model, Pricing) and call.messages is not None:
            yield call.model, call.model is plan.model


def _answer(plan: Planned, prompts: Prompts) -> PlannedCall:
    query = plan.task.case.query
    if plan.asks == "own":
        return PlannedCall("answer", None, None)
    if plan.asks == "none" or plan.model is None:
        return PlannedCall("answer", None, ())
    known = not plan.task.case.earlier  # the system's answers to earlier turns are unknown
    final = known and (plan.asks == "closed_book" or query.passages is not None)  # retrieved passages are unknown too
    return PlannedCall("answer", plan.model, BUILT_IN[plan.asks](query, prompts), final)


def _input_calls(plan: Planned, prompts: Prompts) -> list[PlannedCall]:
    """Return the calls for the inputs of a task's metrics; those that ask the session's model come first."""
    calls = [call for each in inputs_of(plan.task.metrics) for call in each.estimate(plan, prompts)]
    return sorted(calls, key=lambda call: call.model is not None and call.model is not plan.model)


def _add(estimate: Estimate, call: PlannedCall, task: Task) -> Estimate:
    estimate = replace(estimate, cases=estimate.cases + 1)
    if call.messages is None or isinstance(call.model, str):
        return replace(estimate, calls=None)
    if call.model is None:
        return estimate
    model, calls = call.model, (estimate.calls or 0) + call.times
    if call.final and model.recorded(call.messages, int(task.case.facets.get("repeat", "1"))):
        return replace(estimate, calls=calls, recorded=estimate.recorded + 1)
    tokens, counted = model.count(call.messages)
    reply = model.max_tokens or ASSUMED_REPLY
    cost = model.cost(tokens, reply)
    return replace(
        estimate,
        calls=calls,
        prompt_tokens=estimate.prompt_tokens + call.times * tokens,
        completion_tokens=estimate.completion_tokens + call.times * reply,
        counted=estimate.counted and call.counted,
        exact=estimate.exact and counted and call.final,
        bounded=estimate.bounded and model.max_tokens is not None,
        cost_usd=None if cost is None or estimate.cost_usd is None else estimate.cost_usd + call.times * cost,
    )
