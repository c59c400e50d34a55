"""A system's answer: text, ranking, trace and usage."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pytest_rageval.model.ranking import Ranking
from pytest_rageval.model.storage import ALWAYS, NEEDED, UNSTORED, Amount, stored

__all__ = ["Answer", "OldAnswer", "Step", "Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, price and time of an answer. None means unknown, not zero.

    Attributes:
        prompt_tokens: tokens sent.
        completion_tokens: tokens received.
        cost_usd: price in US dollars.
        latency_s: wall-clock seconds of the call.
        total_tokens: tokens sent and received, for a log that reports only their sum.
    """

    prompt_tokens: int | None = field(default=None, metadata=ALWAYS)
    completion_tokens: int | None = field(default=None, metadata=ALWAYS)
    cost_usd: Amount | None = field(default=None, metadata=ALWAYS)
    latency_s: Amount | None = field(default=None, metadata=ALWAYS)
    total_tokens: int | None = None

    @property
    def fault(self) -> str | None:
        """The name of the first field that is neither None nor a finite number >= 0; None if all are valid."""
        for name in _AMOUNTS:
            if not _is_amount(getattr(self, name)):
                return name
        return None


_AMOUNTS = tuple(each.name for each in fields(Usage))


@dataclass(frozen=True, slots=True)
class Step:
    """One step towards an answer (a retrieval, a tool call, a thought).

    Attributes:
        kind: the kind of the step, such as tool, retrieve or completion; see how-to/traces.md.
        detail: key -> JSON value, possibly nested; ``parent`` is the index in the trace of the step that contains it.
    """

    kind: str
    detail: Mapping[str, Any] = field(
        default_factory=dict, metadata=stored(always=True, needed=True, schema={"type": "object"})
    )


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

    text: str = field(metadata=stored(private="null", says="null if texts are left out"))
    ranking: Ranking | None = field(default=None, metadata=stored(always=True, needed=True, before="trace"))
    abstained: bool | None = field(default=None, metadata=NEEDED)
    trace: tuple[Step, ...] = field(default=(), metadata=NEEDED)
    usage: Usage | None = field(default=None, metadata=NEEDED)
    generated: bool = field(default=True, metadata=UNSTORED)


@dataclass(frozen=True, slots=True)
class OldAnswer:
    """The answer to the same case in the earlier run of a comparison.

    Attributes:
        text: the answer itself.
        abstained: whether the system declined to answer, see `Answer.abstained`.
        passages: ids of the passages that the system saw, best first; None if unknown.
        texts: digest of the ids and texts of the retrieved passages, independent of their order; "" if no text is
            known.
    """

    text: str
    abstained: bool | None = field(default=None, metadata=ALWAYS)
    passages: tuple[str, ...] | None = field(default=None, metadata=ALWAYS)
    texts: str = ""


def _is_amount(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        return False
    try:
        return 0 <= float(value) < math.inf
    except (OverflowError, TypeError, ValueError):
        return False
