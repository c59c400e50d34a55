"""Count model calls and sum up their tokens, attempts and cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_rageval.model.storage import ALWAYS, Amount

__all__ = ["NO_CALLS", "Calls"]


@dataclass(frozen=True, slots=True)
class Calls:
    """The model calls of one case or of a session: by the system, the judges and the closed-book arm.

    Attributes:
        calls: number of calls; a call with retries counts once.
        replayed: number of calls read from a recording.
        attempts: number of requests, including retries; a replayed call sends none.
        prompt_tokens: tokens sent; None if unknown for any call.
        completion_tokens: tokens received; None if unknown for any call.
        cost_usd: price in US dollars, with replayed calls at their recorded price; None if unknown for any call.
        spent_usd: price without the replayed calls, which is what this run paid; None if unknown for any call.
        on_their_way: number of calls that were cancelled before the reply came. Their usage is unknown and missing in
            the sums, which are then lower bounds; see `exact`.
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
        """The totals; sums that are only lower bounds are replaced by None."""
        if not self.on_their_way:
            return self
        return Calls(self.calls, self.replayed, self.attempts, None, None, None, None)

    def __add__(self, other: Calls) -> Calls:
        return Calls(
            calls=self.calls + other.calls,
            replayed=self.replayed + other.replayed,
            attempts=self.attempts + other.attempts,
            prompt_tokens=_add_counts(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=_add_counts(self.completion_tokens, other.completion_tokens),
            cost_usd=_add_costs(self.cost_usd, other.cost_usd),
            spent_usd=_add_costs(self.spent_usd, other.spent_usd),
            on_their_way=self.on_their_way + other.on_their_way,
        )


NO_CALLS = Calls()


def _add_counts(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _add_costs(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
