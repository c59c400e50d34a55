"""The calls that a task would make, with tokenizers and prices, before it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pytest_rageval.engine.task import Task
from pytest_rageval.judges.panel import Panel

if TYPE_CHECKING:
    from pytest_rageval.model.chat import Message

__all__ = ["Asks", "Planned", "PlannedCall", "Pricing"]

Asks = Literal["llm", "closed_book", "none", "own"]
"""The model calls of a system: those of the built-in system with this name, none, or its own, which are unknown."""


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
class PlannedCall:
    """The calls of a task for one purpose.

    Attributes:
        what: the purpose: "answer", "each document", "closed book", a judge's name.
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
