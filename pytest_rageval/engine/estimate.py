"""What a session would ask of its models, counted before anything is asked."""

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

__all__ = ["Asks", "Estimate", "Planned", "Pricing", "asked_by", "estimates"]

Asks = Literal["llm", "closed_book", "none", "own"]
"""Which model calls a system makes: those of the built-in system of that name, none, or its own, which are unknown."""

ASSUMED_REPLY = 256
"""Tokens of a reply where ``max_tokens`` does not bound it."""

ASSUMED_ANSWER = "word " * 100
"""Stands for the answer that a judge would be shown."""

BUILT_IN = {"llm": messages_for, "closed_book": closed_book_messages}
"""The built-in systems that ask the session's model once for each case, and what they say."""


@dataclass(frozen=True, slots=True)
class Pricing:
    """A model, its tokenizer and its prices.

    Attributes:
        name: the model's name.
        count: messages -> their tokens, and whether that is exact.
        cost: (prompt tokens, completion tokens) -> US dollars, or None when the price is unknown.
        max_tokens: the longest reply that is asked for; None leaves it open.
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
        task: what would be asked.
        asks: which model calls its system makes.
        model: the model behind our systems: its prices, the name of what a user has put in its place, or None.
        judge: likewise the model that judges ask; None leaves their metrics unscored, and nothing is asked.
        top_k: how many passages our systems retrieve at most.
        panels: name of a judge -> who is asked for its verdicts instead.
        panelists: likewise the models of the panels, by name.
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
        testbed: its node id.
        system: the system's name.
        what: "answer", "each document", "closed book", or a judge's name.
        model: who is asked; "" where no model of the session's is.
        cases: how many cases there are.
        calls: how many calls; None where it is a user's code that asks what it will.
        recorded: how many of them would be replayed.
        prompt_tokens, completion_tokens: of the calls that would be made; the latter the most there may be.
        counted: whether there will be as many calls; else it is the most there may be.
        exact: whether the prompts are those that will be sent, counted by the model's own tokenizer.
        bounded: whether ``max_tokens`` bounds the replies, so that no length had to be assumed.
        cost_usd: the most that they may cost; None where a price is unknown.
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
    """A call of a task: for what, of whom, with which messages, whether those are what will be sent, how often.

    Without messages it is not known how many calls there are, with an empty list there is none; where it is not
    counted, ``times`` is the most there may be.
    """

    what: str
    asked: Pricing | str | None
    messages: Sequence[Message] | None
    final: bool = True
    times: int = 1
    counted: bool = True


def estimates(planned: Sequence[Planned], prompts: Prompts) -> list[Estimate]:
    """Return what the tasks would ask, by testbed, system and purpose, in their order; ``prompts`` are our systems'."""
    found: dict[tuple[str, str, str, str], Estimate] = {}
    for plan in planned:
        for call in (_answer(plan, prompts), *_examined(plan, prompts)):
            name = call.asked.name if isinstance(call.asked, Pricing) else call.asked or ""
            key = (plan.task.testbed, plan.task.system, call.what, name)
            found[key] = _added(found.get(key) or Estimate(*key), call, plan.task)
    return list(found.values())


def asked_by(plan: Planned, prompts: Prompts) -> Iterator[tuple[Pricing, bool]]:
    """Yield each model that a task asks, as far as that is known, and whether it is the model behind our systems."""
    for call in (_answer(plan, prompts), *_examined(plan, prompts)):
        if isinstance(call.asked, Pricing) and call.messages is not None:
            yield call.asked, call.asked is plan.model


def _answer(plan: Planned, prompts: Prompts) -> _Call:
    query = plan.task.case.query
    if plan.asks == "own":
        return _Call("answer", None, None)
    if plan.asks == "none" or plan.model is None:
        return _Call("answer", None, ())
    known = not plan.task.case.earlier  # what the system will have answered before is not
    final = known and (plan.asks == "closed_book" or query.passages is not None)  # nor are passages to be retrieved
    return _Call("answer", plan.model, BUILT_IN[plan.asks](query, prompts), final)


def _examined(plan: Planned, prompts: Prompts) -> Iterator[_Call]:
    """Yield what the metrics of a task ask."""
    task = plan.task
    if any(metric.labels != "none" for metric in task.metrics):
        yield from _each_document(plan, prompts)
    if plan.model is not None and any(metric.closed_book for metric in task.metrics):
        yield _Call("closed book", plan.model, closed_book_messages(task.case.query, prompts))
    judges = {metric.judge.name: metric.judge for metric in task.metrics if metric.judge is not None}
    for name, judge in judges.items():
        asked = [(model, times) for model, times in _judging(plan, name) if model is not None]
        if not asked or not getattr(judge, "needs_model", True):
            continue
        says = getattr(judge, "messages", None)
        messages = None if says is None else says(Sample(task.case, Answer(ASSUMED_ANSWER)))
        for model, times in asked:
            yield _Call(name, model, messages, final=False, times=times)


def _judging(plan: Planned, name: str) -> list[tuple[Pricing | str | None, int]]:
    """Return who is asked for the verdicts of a judge, and how often; in another order it is about as long."""
    if name not in plan.panels:
        return [(plan.judge, 1)]
    panel = plan.panels[name]
    return [(plan.panelists[model], panel.votes_each) for model in panel.models]


def _each_document(plan: Planned, prompts: Prompts) -> Iterator[_Call]:
    """Yield what is asked from single documents: nothing of a system of ours that is given its passages."""
    query = plan.task.case.query
    if plan.asks == "own":
        yield _Call("each document", None, None)
    elif plan.asks == "llm" and plan.model is not None and query.passages is None:
        says, most = messages_for(query, prompts), plan.top_k
        yield _Call("each document", plan.model, says, final=False, times=most, counted=most == 1)


def _added(estimate: Estimate, call: _Call, task: Task) -> Estimate:
    estimate = replace(estimate, cases=estimate.cases + 1)
    if call.messages is None or isinstance(call.asked, str):
        return replace(estimate, calls=None)
    if call.asked is None:
        return estimate
    asked, calls = call.asked, (estimate.calls or 0) + call.times
    if call.final and asked.recorded(call.messages, int(task.case.facets.get("repeat", "1"))):
        return replace(estimate, calls=calls, recorded=estimate.recorded + 1)
    tokens, counted = asked.count(call.messages)
    reply = asked.max_tokens or ASSUMED_REPLY
    cost = asked.cost(tokens, reply)
    return replace(
        estimate,
        calls=calls,
        prompt_tokens=estimate.prompt_tokens + call.times * tokens,
        completion_tokens=estimate.completion_tokens + call.times * reply,
        counted=estimate.counted and call.counted,
        exact=estimate.exact and counted and call.final,
        bounded=estimate.bounded and asked.max_tokens is not None,
        cost_usd=None if cost is None or estimate.cost_usd is None else estimate.cost_usd + call.times * cost,
    )
