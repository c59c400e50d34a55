"""Estimate the model calls of a session before it runs: number, tokens and cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_rageval.engine.inputs import inputs_of
from pytest_rageval.engine.planned_calls import PlannedCall, PlannedTask, PricedModel
from pytest_rageval.engine.task import Task
from pytest_rageval.systems.prompting import Prompts
from pytest_rageval.systems.workflow import PlannedRun

__all__ = ["ASSUMED_OBSERVATION", "ASSUMED_REPLY", "AskRequests", "Estimate", "estimates", "models_of"]

ASSUMED_REPLY = 256
"""Tokens of a reply if ``max_tokens`` does not limit it."""

ASSUMED_OBSERVATION = 256
"""Tokens of the result of an agent's tool; with each step the prompt grows by a reply and a result."""


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


@dataclass(frozen=True, slots=True)
class AskRequests:
    """The number of requests that a test sends to one system with ``rag_ask``.

    Attributes:
        nodeid: the test's node id.
        system: the system's name.
        model: the name of the system's model; "" if it has none or it is unknown.
        examples: how often Hypothesis runs the test; 1 without Hypothesis.
        each: number of requests in one run of the test; None if the test's code does not show it.
    """

    nodeid: str
    system: str
    model: str
    examples: int
    each: int | None


def estimates(planned: Sequence[PlannedTask], prompts: Prompts) -> list[Estimate]:
    """Return the calls of the tasks, summed by testbed, system, purpose and model.

    Args:
        planned: the tasks.
        prompts: the prompts of the built-in systems.
    """
    result: dict[tuple[str, str, str, str], Estimate] = {}
    for plan in planned:
        for call in (*_answer_calls(plan), *_input_calls(plan, prompts)):
            name = call.model.name if isinstance(call.model, PricedModel) else call.model or ""
            key = (plan.task.testbed, plan.task.system, call.what, name)
            result[key] = _add(result.get(key) or Estimate(*key), call, plan.task)
    return list(result.values())


def models_of(plan: PlannedTask, prompts: Prompts) -> Iterator[tuple[PricedModel, bool]]:
    """Yield each known model that a task asks, and whether it is the model of the built-in systems."""
    for call in (*_answer_calls(plan), *_input_calls(plan, prompts)):
        if isinstance(call.model, PricedModel) and call.messages is not None:
            yield call.model, call.model is plan.model or call.model in plan.models.values()


def _answer_calls(plan: PlannedTask) -> Iterator[PlannedCall]:
    """Yield the first call of a system, then its later calls; their prompts contain the earlier replies."""
    case = plan.task.case
    if plan.plan_calls is None:
        yield PlannedCall("answer", None, None)
        return
    run = plan.plan_calls(case.query)
    models = {**plan.models, "": plan.model}
    call_limits = run.call_limits or [("", None)] * run.calls
    known_calls = [(name, limit) for name, limit in call_limits if models.get(name) is not None]
    if not known_calls:
        yield PlannedCall("answer", None, ())
        return
    final = run.final and not case.earlier  # the system's answers to earlier turns are unknown
    yield PlannedCall("answer", models[known_calls[0][0]], run.messages, final, params=run.params)
    for name in dict.fromkeys(name for name, _ in known_calls[1:]):
        yield _later_steps(run, models[name], [limit for each, limit in known_calls[1:] if each == name])


def _later_steps(run: PlannedRun, model: PricedModel | str | None, limits: Sequence[int | None]) -> PlannedCall:
    """Return the later calls of a model.

    Args:
        run: the calls of the case.
        model: the model.
        limits: ``max_tokens`` of each later call; None if it is the same as in the first call.
    """
    count, known = len(limits), [limit for limit in limits if limit]
    params = {"max_tokens": max(known)} if known and len(known) == count else {} if run.call_limits else run.params
    reply = (model.max_tokens if isinstance(model, PricedModel) else None) or ASSUMED_REPLY
    turns = 0 if run.exact else sum(min(step, run.turns or step) for step in range(1, count + 1))
    growth = (reply + ASSUMED_OBSERVATION) * turns // count  # the mean of the steps
    return PlannedCall("later steps", model, run.messages, False, count, run.exact, params, growth)


def _input_calls(plan: PlannedTask, prompts: Prompts) -> list[PlannedCall]:
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
    limit: Any = call.params.get("max_completion_tokens") or call.params.get("max_tokens") or model.max_tokens
    reply = limit or ASSUMED_REPLY
    cost = model.cost(tokens, reply)
    return replace(
        estimate,
        calls=calls,
        prompt_tokens=estimate.prompt_tokens + call.times * tokens,
        completion_tokens=estimate.completion_tokens + call.times * reply,
        counted=estimate.counted and call.counted,
        exact=estimate.exact and counted and call.final,
        bounded=estimate.bounded and limit is not None,
        cost_usd=None if cost is None or estimate.cost_usd is None else estimate.cost_usd + call.times * cost,
    )


def _tokens(model: PricedModel, call: PlannedCall) -> tuple[int, bool]:
    """Return the tokens of a prompt, and whether the number is exact. Tools are counted as their JSON."""
    tokens, counted = model.count(call.messages or ())
    tools = call.params.get("tools")
    if tools:
        tokens += model.count([{"role": "", "content": json.dumps(tools, default=str)}])[0]
    return tokens + call.more_tokens, counted and not tools
