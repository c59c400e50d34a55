"""A system's answer: text, ranking, trace and usage."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from pytest_rageval.model.ranking import Ranking

__all__ = ["Answer", "Step", "Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, price and time of an answer. None means unknown, not zero.

    Attributes:
        prompt_tokens: tokens sent.
        completion_tokens: tokens received.
        cost_usd: price in US dollars.
        latency_s: wall-clock seconds of the call.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    latency_s: float | None = None

    @property
    def fault(self) -> str | None:
        """The name of the first field that is neither None nor a finite number >= 0; None if all are valid."""
        return next((each.name for each in fields(self) if not _is_amount(getattr(self, each.name))), None)


@dataclass(frozen=True, slots=True)
class Step:
    """One step towards an answer (a retrieval, a tool call, a thought)."""

    kind: str
    detail: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's answer.

    Attributes:
        text: the answer itself; "" is an answer.
        ranking: the retrieved passages, best first; empty if none; None if the system does not report them.
        abstained: True if the system declined to answer, False if it answered;
            None lets the rejection markers in the text decide.
        trace: the steps that led to the answer.
        usage: tokens, cost and time; None when unknown.
        generated: False if no retrieved passage had a text to answer from; then only the ranking can be scored.
    """

    text: str
    ranking: Ranking | None = None
    abstained: bool | None = None
    trace: tuple[Step, ...] = ()
    usage: Usage | None = None
    generated: bool = True


def _is_amount(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        return False
    try:
        return 0 <= float(value) < math.inf
    except (OverflowError, TypeError, ValueError):
        return False
