"""Estimate the model calls of a session before it runs: number, tokens and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pytest_rageval.engine.asking import Task
from pytest_rageval.judges.panel import Panel
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.sample import Sample
from pytest_rageval.systems.prompting import Prompts, closed_book_messages, messages_for

if TYPE_CHECKING:
    from pytest_rageval.model.chat import Message

__all__ = ["Asks", "Estimate", "Planned", "Pricing", "estimates", "models_of"]

Asks = Literal["llm", "closed_book", "none", "own"]
"""The model calls of a system: those of the built-in system with this name, none, or its own, which are unknown."""

ASSUMED_REPLY = 256
"""Tokens of a reply if ``max_tokens`` does not limit it."""

ASSUMED_ANSWER = "word " * 100
"""Placeholder for the answer in a judge's prompt."""

BUILT_IN = {"llm": messages_for, "closed_book": closed_book_messages}
"""The built-in systems that ask the session's model once for each case -> their messages."""


@dataclass(frozen=True, slots=True)
class Pricing:
    """A model, its tokenizer and its prices.

    Attributes:
        name: the model's name.
        count: messages -> their tokens, and whether the number is exact.
        cost: (prompt tokens, completion tokens) -> US dollars, or None if the price is unknown.
        max_tokens: the limit of a reply; None for no limit.
        recorded: (messages, repeat) -> whether the reply would be replayed.
    """

    name: str
    count: Callable[[Sequence[Message]], tuple[int, bool]]
    cost: Callable[[int, int], float | None]
    max_tokens: int | None
    recorded: Callable[[Sequence[Message], int], bool]


@dataclass(frozen=True, slots=True)
class Planned:
    """A task that would run.

    Attributes:
        task: the task.
        asks: which model calls its system makes.
        model: the model behind our systems: its prices, the name of a user's replacement, or None.
        judge: the model that judges ask, in the same form; None leaves their metrics unscored, without calls.
        top_k: the most passages that our systems retrieve.
        panels: name of a judge -> the panel that replaces ``judge``.
        panelists: name of a panel's model -> the model, in the same form.
    """

    task: Task
    asks: Asks
    model: Pricing | str | None
    judge: Pricing | str | None
    top_k: int = 5
    panels: Mapping[str, Panel] = field(default_factory=dict)
    panelists: Mapping[str, Pricing | str | None] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class _Call:
    """The calls of a task for one purpose.

    Attributes:
        what: the purpose, as in `Estimate`.
        model: the model, as in `Planned`.
        messages: None if the number of calls is unknown; empty for no call.
        final: whether exactly these messages will be sent.
        times: number of calls.
        counted: whether ``times`` is exact; otherwise it is an upper bound.
    """

    what: str
    model: Pricing | str | None
    messages: Sequence[Message] | None
    final: bool = True
    times: int = 1
    counted: bool = True


def estimates(planned: Sequence[Planned], prompts: Prompts) -> list[Estimate]:
    """Return the calls of the tasks by testbed, system, purpose and model; ``prompts`` are those of our systems."""
    result: dict[tuple[str, str, str, str], Estimate] = {}
    for plan in planned:
        for call in (_answer(plan, prompts), *_metric_calls(plan, prompts)):
            name = call.model.name if isinstance(call.model, Pricing) else call.model or ""
            key = (plan.task.testbed, plan.task.system, call.what, name)
            result[key] = _add(result.get(key) or Estimate(*key), call, plan.task)
    return list(result.values())


def models_of(plan: Planned, prompts: Prompts) -> Iterator[tuple[Pricing, bool]]:
    """Yield each known model that a task asks, and whether it is the model behind our systems."""
    for call in (_answer(plan, prompts), *_metric_calls(plan, prompts)):
        if isinstance(call.model, Pricing) and call.messages is not None:
            yield call.model, call.model is plan.model


def _answer(plan: Planned, prompts: Prompts) -> _Call:
    query = plan.task.case.query
    if plan.asks == "own":
        return _Call("answer", None, None)
    if plan.asks == "none" or plan.model is None:
        return _Call("answer", None, ())
    known = not plan.task.case.earlier  # the system's answers to earlier turns are unknown
    final = known and (plan.asks == "closed_book" or query.passages is not None)  # retrieved passages are unknown too
    return _Call("answer", plan.model, BUILT_IN[plan.asks](query, prompts), final)


def _metric_calls(plan: Planned, prompts: Prompts) -> Iterator[_Call]:
    """Yield the calls for the metrics of a task."""
    task = plan.task
    if any(metric.labels != "none" for metric in task.metrics):
        yield from _each_document(plan, prompts)
    if plan.model is not None and any(metric.closed_book for metric in task.metrics):
        yield _Call("closed book", plan.model, closed_book_messages(task.case.query, prompts))
    judges = {metric.judge.name: metric.judge for metric in task.metrics if metric.judge is not None}
    for name, judge in judges.items():
        voters = [(model, times) for model, times in _voters(plan, name) if model is not None]
        if not voters or not getattr(judge, "needs_model", True):
            continue
        make_messages = getattr(judge, "messages", None)
        messages = None if make_messages is None else make_messages(Sample(task.case, Answer(ASSUMED_ANSWER)))
        for model, times in voters:
            yield _Call(name, model, messages, final=False, times=times)


def _voters(plan: Planned, name: str) -> list[tuple[Pricing | str | None, int]]:
    """Return the models of a judge and their numbers of calls; a swapped prompt counts like the normal one."""
    if name not in plan.panels:
        return [(plan.judge, 1)]
    panel = plan.panels[name]
    return [(plan.panelists[model], panel.votes_each) for model in panel.models]


def _each_document(plan: Planned, prompts: Prompts) -> Iterator[_Call]:
    """Yield the calls from single documents; our systems make none if the testbed supplies the passages."""
    query = plan.task.case.query
    if plan.asks == "own":
        yield _Call("each document", None, None)
    elif plan.asks == "llm" and plan.model is not None and query.passages is None:
        messages, most = messages_for(query, prompts), plan.top_k
        yield _Call("each document", plan.model, messages, final=False, times=most, counted=most == 1)


def _add(estimate: Estimate, call: _Call, task: Task) -> Estimate:
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
