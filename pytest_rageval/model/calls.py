"""What the models behind a case were asked, summed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Calls"]


@dataclass(frozen=True, slots=True)
class Calls:
    """The model calls of one case or of a session: the system's, the judges' and those of the closed-book arm.

    Attributes:
        calls: how many there were, each counted once however often it was tried.
        replayed: how many of them were read from a recording.
        attempts: requests that were sent, retries included; a replayed call sends none.
        prompt_tokens: tokens sent; None when a call's are unknown.
        completion_tokens: tokens received; None when a call's are unknown.
        cost_usd: price in US dollars, of replayed calls what it was when they were recorded; None when one is unknown.
        spent_usd: the same without the replayed calls: what this run paid.
        on_their_way: how many calls were cancelled before their reply came. What they took is unknown, and not in the
            sums, which are lower bounds then; see `exact`.
    """

    calls: int = 0
    replayed: int = 0
    attempts: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = 0.0
    spent_usd: float | None = 0.0
    on_their_way: int = 0

    @property
    def exact(self) -> Calls:
        """The same with None for each sum that is a lower bound."""
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


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _add(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
