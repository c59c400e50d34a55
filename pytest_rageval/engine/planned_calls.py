"""The calls that a task would make, planned before it runs, and the models for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_rageval.engine.task import Task
from pytest_rageval.judges.panel import Panel
from pytest_rageval.systems.workflow import PlannedRun

if TYPE_CHECKING:
    from pytest_rageval.model.case import Query
    from pytest_rageval.model.chat import Message

__all__ = ["CallPlanner", "PlannedCall", "PlannedTask", "PricedModel"]

CallPlanner = Callable[["Query"], PlannedRun]
"""Returns the model calls that a system would make for a query."""


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model with its tokenizer and its prices.

    Attributes:
        name: the model's name.
        count: messages -> their tokens, and whether the number is exact.
        cost: (prompt tokens, completion tokens) -> US dollars, or None if the price is unknown.
        max_tokens: the limit of a reply; None for no limit.
        recorded: (messages, repeat, params) -> whether the reply would be replayed.
    """

    name: str
    count: Callable[[Sequence[Message]], tuple[int, bool]]
    cost: Callable[[int, int], float | None]
    max_tokens: int | None
    recorded: Callable[[Sequence[Message], int, Mapping[str, object]], bool]


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task before it runs, with the models that it would ask.

    Attributes:
        task: the task.
        plan_calls: plans the model calls of its system; None if they are unknown.
        model: the model of the built-in systems: with its prices, or only the name of a user's model; None without one.
        models: for chains, name of an action's own model -> the model, in the same form.
        judge: the model that judges ask, in the same form; None leaves their metrics unscored, without calls.
        panels: name of a judge -> the panel that replaces ``judge``.
        panelists: name of a panel's model -> the model, in the same form.
    """

    task: Task
    plan_calls: CallPlanner | None
    model: PricedModel | str | None
    judge: PricedModel | str | None
    models: Mapping[str, PricedModel | str | None] = field(default_factory=dict)
    panels: Mapping[str, Panel] = field(default_factory=dict)
    panelists: Mapping[str, PricedModel | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """The calls of a task for one purpose.

    Attributes:
        what: the purpose: "answer" (only the first call, if there are several), "later steps", "each document",
            "closed book", or a judge's name.
        model: the model, as in `PlannedTask`.
        messages: None if the number of calls is unknown; empty for no call.
        final: whether exactly these messages will be sent.
        times: number of calls.
        counted: whether ``times`` is exact; otherwise it is an upper bound.
        params: the parameters of the call in addition to the model's own.
        more_tokens: estimated tokens of each prompt in addition to ``messages``.
    """

    what: str
    model: PricedModel | str | None
    messages: Sequence[Message] | None
    final: bool = True
    times: int = 1
    counted: bool = True
    params: Mapping[str, object] = field(default_factory=dict)
    more_tokens: int = 0
