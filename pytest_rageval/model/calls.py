"""Totals of model calls: tokens, attempts and cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_rageval.model.stored import ALWAYS, Amount

__all__ = ["NO_CALLS", "Calls"]


@dataclass(frozen=True, slots=True)
class Calls:
    """The model calls of one case or of a session: by the system, the judges and the closed-book arm.

    Attributes:
        calls: number of calls; a retried call counts once.
        replayed: number of calls read from a recording.
        attempts: requests sent, retries included; a replayed call sends none.
        prompt_tokens: tokens sent; None if unknown for any call.
        completion_tokens: tokens received; None if unknown for any call.
        cost_usd: price in US dollars, with replayed calls at their recorded price; None if unknown for any call.
        spent_usd: the same without the replayed calls: what this run paid.
        on_their_way: number of calls cancelled before their reply came. Their usage is unknown and not in the sums.
            The sums are then lower bounds; see `exact`.
    """

    calls: int = field(default=0, metadata=ALWAYS)
    replayed: int = field(default=0, metadata=ALWAYS)
    attempts: int = field(default=0, metadata=ALWAYS)
    prompt_tokens: int | None = field(default=0, metadata=ALWAYS)
    completion_tokens: int | None = field(default=0, metadata=ALWAYS)
    cost_usd: Amount | None = field(default=0.0, metadata=ALWAYS)
    spent_usd: Amount | None = field(default=0.0, metadata=ALWAYS)
    on_their_way: int = 0

    @property
    def exact(self) -> Calls:
        """These totals, with None for each sum that is only a lower bound."""
        if not self.on_their_way:
            return self
        return Calls(self.calls, self.replayed, self.attempts, None, None, None, None)

    def __add__(self, other: Calls) -> Calls:
        return Calls(
            calls=self.calls + other.calls,
            replayed=self.replayed + other.replayed,
            attempts=self.attempts + other.attempts,
            prompt_tokens=_sum(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=_sum(self.completion_tokens, other.completion_tokens),
            cost_usd=_add(self.cost_usd, other.cost_usd),
            spent_usd=_add(self.spent_usd, other.spent_usd),
            on_their_way=self.on_their_way + other.on_their_way,
        )


NO_CALLS = Calls()


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _add(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
