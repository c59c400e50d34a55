"""The calls that a task would make, with tokenizers and prices, before it runs."""

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

__all__ = ["Plan", "Planned", "PlannedCall", "Pricing"]

Plan = Callable[["Query"], PlannedRun]
"""Returns the model calls of a system for a query."""


@dataclass(frozen=True, slots=True)
class Pricing:
    """A model, its tokenizer and its prices.

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
class Planned:
    """A task that would run.

    Attributes:
        task: the task.
        plan: plans the model calls of its system; None if they are unknown.
        model: the model behind our systems: its prices, the name of a user's replacement, or None.
        models: name of a model of a single action -> the model, in the same form.
        judge: the model that judges ask, in the same form; None leaves their metrics unscored, without calls.
        panels: name of a judge -> the panel that replaces ``judge``.
        panelists: name of a panel's model -> the model, in the same form.
    """

    task: Task
    plan: Plan | None
    model: Pricing | str | None
    judge: Pricing | str | None
    models: Mapping[str, Pricing | str | None] = field(default_factory=dict)
    panels: Mapping[str, Panel] = field(default_factory=dict)
    panelists: Mapping[str, Pricing | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """The calls of a task for one purpose.

    Attributes:
        what: the purpose: "answer" (of several calls the first), "later steps", "each document", "closed book", a
            judge's name.
        model: the model, as in `Planned`.
        messages: None if the number of calls is unknown; empty for no call.
        final: whether exactly these messages will be sent.
        times: number of calls.
        counted: whether ``times`` is exact; otherwise it is an upper bound.
        params: the parameters of the call in addition to the model's own.
        more_tokens: estimated tokens of each prompt in addition to ``messages``.
    """

    what: str
    model: Pricing | str | None
    messages: Sequence[Message] | None
    final: bool = True
    times: int = 1
    counted: bool = True
    params: Mapping[str, object] = field(default_factory=dict)
    more_tokens: int = 0
