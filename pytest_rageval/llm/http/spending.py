"""Keep the model calls of a user's system within the budget."""

from __future__ import annotations

from collections.abc import Generator
from time import monotonic
from typing import TYPE_CHECKING

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.http.price_table import PriceTable

if TYPE_CHECKING:
    from pytest_rageval.llm.budget import Budget
    from pytest_rageval.llm.http.model_usage import ModelCall

__all__ = ["Spending"]

LOOK_S = 0.02
"""Seconds between two checks whether calls in flight leave enough of the budget."""

PATIENCE_S = 60.0
"""Seconds to wait for calls in flight."""


class Spending:
    """The prices of calls, and the budget that they share with the session's other calls.

    Args:
        prices: the prices.
        budget: the limit; None for no limit.
        partial: whether a call without a known maximum may be sent under a budget.
    """

    def __init__(self, prices: PriceTable, budget: Budget | None = None, *, partial: bool = False) -> None:
        self.prices = prices
        self._budget = budget
        self._partial = partial

    def reserve(self, asked: ModelCall | None, host: str, *, may_wait: bool) -> Generator[float, None, float | None]:
        """Yield seconds to sleep until the maximum cost of a call is reserved; return it.

        Raises:
            ModelError: of kind "budget", if it would pass the limit or cannot be bounded.
        """
        budget = self._budget
        if budget is None or asked is None:
            return None
        try:
            max_cost = self.prices.max_cost(asked, host)
        except ModelError:
            if not self._partial:
                raise
            budget.check()
            return None
        since = monotonic()
        try:
            while not budget.try_reserve(max_cost, last=not may_wait or monotonic() - since > PATIENCE_S):
                yield LOOK_S
        except ModelError as error:
            if self.prices.limit(asked) is not None or asked.is_embedding:
                raise
            max_reply_tokens = f"the longest possible reply of {asked.model} is assumed; send a lower max_tokens"
            raise ModelError("budget", f"{error} ({max_reply_tokens})", attempts=0) from None
        return max_cost

    def settle(self, reserved: float | None, cost: float | None) -> None:
        """Count the cost of a call; its maximum if the cost is unknown."""
        if self._budget is None:
            return
        if reserved is not None:
            self._budget.release(reserved, reserved if cost is None else cost)
        elif cost:
            self._budget.spend(cost)
