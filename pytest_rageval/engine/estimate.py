"""Estimate the model calls of a session before it runs: number, tokens and cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_rageval.engine.inputs import inputs_of
from pytest_rageval.engine.planned import Planned, PlannedCall, Pricing
from pytest_rageval.engine.task import Task
from pytest_rageval.systems.prompting import Prompts

__all__ = ["ASSUMED_OBSERVATION", "ASSUMED_REPLY", "Estimate", "estimates", "models_of"]

ASSUMED_REPLY = 256
"""Tokens of a reply if ``max_tokens`` does not limit it."""

ASSUMED_OBSERVATION = 256
"""Tokens of what an agent's tool shows; an agent's prompt grows by it and by a reply with each step."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The calls of one kind that one testbed would make under one system.

    Attributes:
        testbed: the testbed's node id.
        system: the system's name.
        what: "answer", "later steps", "each document", "closed book", or a judge's name.
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
        for call in (*_answer(plan), *_input_calls(plan, prompts)):
            name = call.model.name if isinstance(call.model, Pricing) else call.model or ""
            key = (plan.task.testbed, plan.task.system, call.what, name)
            result[key] = _add(result.get(key) or Estimate(*key), call, plan.task)
    return list(result.values())


def models_of(plan: Planned, prompts: Prompts) -> Iterator[tuple[Pricing, bool]]:
    """Yield each known model that a task asks, and whether it is the model behind our systems."""
    for call in (*_answer(plan), *_input_calls(plan, prompts)):
        if isinstance(call.model, Pricing) and call.messages is not None:
            yield call.model, call.model is plan.model


def _answer(plan: Planned) -> Iterator[PlannedCall]:
    """Yield the first call of a system, then its later ones, whose prompts hold what the model replied before."""
    case = plan.task.case
    if plan.plan is None:
        yield PlannedCall("answer", None, None)
        return
    run = plan.plan(case.query)
    if not run.calls or plan.model is None:
        yield PlannedCall("answer", None, ())
        return
    final = run.final and not case.earlier  # the system's answers to earlier turns are unknown
    yield PlannedCall("answer", plan.model, run.messages, final, params=run.params)
    later = run.calls - 1
    if later:
        reply = (plan.model.max_tokens if isinstance(plan.model, Pricing) else None) or ASSUMED_REPLY
        growth = 0 if run.exact else (reply + ASSUMED_OBSERVATION) * (later + 1) // 2  # the mean of the steps
        yield PlannedCall("later steps", plan.model, run.messages, False, later, run.exact, run.params, growth)


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
    if call.final and model.recorded(call.messages, int(task.case.facets.get("repeat", "1")), call.params):
        return replace(estimate, calls=calls, recorded=estimate.recorded + 1)
    tokens, counted = _tokens(model, call)
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


def _tokens(model: Pricing, call: PlannedCall) -> tuple[int, bool]:
    """Return the tokens of a prompt, and whether the number is exact. Tools are counted as their JSON."""
    tokens, counted = model.count(call.messages or ())
    tools = call.params.get("tools")
    if tools:
        tokens += model.count([{"role": "", "content": json.dumps(tools, default=str)}])[0]
    return tokens + call.more_tokens, counted and not tools
