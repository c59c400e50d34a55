"""Price the model calls of a user's system by the model names in their requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.prices import UNSET, Prices, count_tokens, entry
from pytest_rageval.llm.http.model_usage import ModelCall, ModelReply

__all__ = ["PriceTable"]

_PROVIDERS = {
    "api.deepseek.com": "deepseek",
    "api.fireworks.ai": "fireworks_ai",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.together.xyz": "together_ai",
    "api.x.ai": "xai",
    "generativelanguage.googleapis.com": "gemini",
    "openrouter.ai": "openrouter",
}
"""Host -> its prefix in litellm's price map."""

_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_FRAMING = 16
"""Tokens that a provider may add to a request."""


class PriceTable:
    """The prices of models, by the names in requests.

    Args:
        overrides: the user's ``input_cost_per_token`` and ``output_cost_per_token`` by name of model.
    """

    def __init__(self, overrides: Mapping[str, Mapping[str, object]]) -> None:
        self._overrides = {name.rpartition("/")[2]: params for name, params in overrides.items()}
        self._prices: dict[tuple[str, str], Prices] = {}

    def cost(self, model_call: ModelCall, reply: ModelReply, host: str) -> float | None:
        """Return the price of a reply in US dollars; None if it is unknown."""
        sent, received = reply.prompt_tokens, reply.completion_tokens
        if sent is None or received is None:
            return None
        prices = self._of(model_call.model, host)
        cost = prices.cost(sent, received, reply.cached_tokens)
        if cost is None or not reply.cache_writes or prices.is_overridden:
            return cost
        known = entry(prices.model)
        write, plain = known.get("cache_creation_input_token_cost"), known.get("input_cost_per_token")
        return cost if write is None or plain is None else cost + reply.cache_writes * (write - plain)

    def max_cost(self, model_call: ModelCall, host: str) -> float:
        """Return the maximum price of a call; raise `ModelError` of kind "budget" if it cannot be bounded."""
        prices = self._of(model_call.model, host)
        text = "\n".join(_texts(model_call.body))
        tokens = count_tokens(model_call.model, [{"role": "", "content": text}])[0] + _FRAMING
        limit = 0 if model_call.is_embedding else self.limit(model_call) or UNSET
        if prices.max_cost(1, 0) is None:
            problem = f"the budget cannot be kept because the price of {model_call.model or 'a model'} is unknown"
            advice = "name it in rag_model and give input_cost_per_token and output_cost_per_token in rag_model_params"
            raise ModelError("budget", f"{problem}; {advice}, or give --rag-budget-partial", attempts=0)
        max_cost = prices.max_cost(tokens, limit)
        if max_cost is None:
            problem = f"the budget cannot be kept because it is unknown how long a reply of {model_call.model} may be"
            raise ModelError("budget", f"{problem}; send max_tokens with the request", attempts=0)
        return max_cost * (_whole_number(model_call.body.get("n")) or 1)

    def limit(self, model_call: ModelCall) -> int | None:
        """Return the maximum tokens of the reply that a request sets; None if it sets none."""
        return next((limit for name in _LIMITS if (limit := _whole_number(model_call.body.get(name)))), None)

    def _of(self, model: str, host: str) -> Prices:
        if (model, host) not in self._prices:
            overrides = self._overrides.get(model.rpartition("/")[2])
            provider = _PROVIDERS.get(host)
            full = f"{provider}/{model}" if provider and entry(f"{provider}/{model}") else model
            self._prices[model, host] = Prices(full, overrides)
        return self._prices[model, host]


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a request, without data such as images."""
    if isinstance(value, str):
        if not value.startswith("data:"):
            yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from (name, *_texts(item)) if name != "data" else ()
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
