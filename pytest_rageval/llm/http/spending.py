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
"""Seconds between two checks whether the budget suffices after the calls in flight."""

PATIENCE_S = 60.0
"""Seconds to wait for calls in flight."""


class Spending:
    """The prices of calls, and the budget that they share with the session's other calls.

    Args:
        prices: the prices.
        budget: the limit; None for no limit.
        partial: whether to send calls with an unknown maximum cost in spite of the budget.
    """

    def __init__(self, prices: PriceTable, budget: Budget | None = None, *, partial: bool = False) -> None:
        self.prices = prices
        self._budget = budget
        self._partial = partial

    def reserve(
        self, model_call: ModelCall | None, host: str, *, may_wait: bool
    ) -> Generator[float, None, float | None]:
        """Yield seconds to sleep until the maximum cost of a call is reserved; return this cost in US dollars.

        Raises:
            ModelError: of kind "budget", if the cost would pass the limit or has no known maximum.
        """
        budget = self._budget
        if budget is None or model_call is None:
            return None
        try:
            max_cost = self.prices.max_cost(model_call, host)
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
            if self.prices.limit(model_call) is not None or model_call.is_embedding:
                raise
            max_reply_tokens = f"the longest possible reply of {model_call.model} is assumed; send a lower max_tokens"
            raise ModelError("budget", f"{error} ({max_reply_tokens})", attempts=0) from None
        return max_cost

    def settle(self, reserved: float | None, cost: float | None) -> None:
        """Count the cost of a call; if it is unknown (None), count the reserved maximum."""
        if self._budget is None:
            return
        if reserved is not None:
            self._budget.release(reserved, reserved if cost is None else cost)
        elif cost:
            self._budget.spend(cost)
