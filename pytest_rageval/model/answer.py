"""What a system returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from pytest_rageval.model.ranking import Ranking

__all__ = ["Answer", "Step", "Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost. None means unknown, which is not zero.

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
        """The name of the first part that is known and no finite number of 0 or more; None where there is none."""
        return next((part.name for part in fields(self) if not _is_amount(getattr(self, part.name))), None)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of how an answer came about (a retrieval, a tool call, a thought)."""

    kind: str
    detail: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's answer.

    Attributes:
        text: the answer itself; "" is an answer.
        ranking: what was retrieved, best first, empty when nothing was; None when the system does not say.
        abstained: True when the system declined to answer, False when it did not;
            None leaves that to the rejection markers in the text.
        trace: the steps that led to the answer.
        usage: tokens, cost and time; None when unknown.
        generated: False where nothing was retrieved with a text to answer from: only the ranking can be scored then.
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
