"""Bound the cost of a model call before it is sent, for a budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from pytest_rageval.llm.backends.prices import Prices, count_tokens

if TYPE_CHECKING:
    from pytest_rageval.model.chat import Message

__all__ = ["MaxCost", "free", "max_cost"]

MaxCost = Callable[[Sequence["Message"], Mapping[str, object]], float | None]
"""(messages, params) -> the maximum cost of the call in US dollars; None if unknown."""


def free(messages: Sequence[Message], params: Mapping[str, object]) -> float | None:
    """Return the cost of a call to a model on this machine: 0."""
    return 0.0


def max_cost(name: str, rates: Mapping[str, object]) -> MaxCost:
    """Return the function that computes the maximum cost of a model's calls.

    Args:
        name: the model's litellm name.
        rates: the model's parameters, which may include its prices.
    """
    prices = cache(lambda: Prices(name, rates))  # created on use, because a tiered price may import litellm

    def bound(messages: Sequence[Message], params: Mapping[str, object]) -> float | None:
        tools = params.get("tools")
        schemas = [{"role": "system", "content": json.dumps(tools, default=str)}] if tools else []
        tokens, _ = count_tokens(name, [*messages, *schemas])
        return prices().max_cost(tokens, int(str(params["max_tokens"])))

    return bound
