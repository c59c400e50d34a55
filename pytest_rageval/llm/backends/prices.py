"""What a call costs, and how many tokens it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.llm.backends.encodings import encoding_of
from pytest_rageval.llm.backends.faults import no_longest, no_price
from pytest_rageval.llm.backends.litellm_import import litellm

__all__ = ["UNSAID", "Prices", "count_tokens", "entry"]

UNSAID = -1
"""Stands for the ``max_tokens`` of a call that does not say it."""

_RATES = ("input_cost_per_token", "output_cost_per_token")
_WIDE = "\u1100"
"""Where the scripts begin of which a character is about a token."""


def entry(model: str) -> Mapping[str, Any]:
    """Return what litellm's local map says of a model (prices in US dollars, limits in tokens), or {}.

    A name without its provider is only the model meant when the map gives it the same provider: a model served
    by vLLM is not the one of the same name at OpenAI.
    """
    module: Any = litellm()
    known: Mapping[str, Mapping[str, Any]] = module.model_cost
    try:
        bare, provider, *_ = module.get_llm_provider(model)
    except Exception:  # litellm's own error for a provider it does not know
        return known.get(model, {})
    for name in (model, f"{provider}/{bare}", bare):
        if str(known.get(name, {}).get("litellm_provider", "")).startswith(provider):
            return known[name]
    return {}


class Prices:
    """The price of a model, from litellm's local price map or as the user gives it.

    Args:
        model: litellm's name of the model.
        overrides: a user's ``input_cost_per_token`` and ``output_cost_per_token`` in US dollars, instead of the map's,
            which is not looked at when both are given, and ``max_tokens`` of calls that do not say it.
    """

    def __init__(self, model: str, overrides: Mapping[str, object] | None = None) -> None:
        self.model = model
        overrides = overrides or {}
        given = {rate: overrides[rate] for rate in _RATES if overrides.get(rate) is not None}
        self.given = bool(given)
        self._known = {} if len(given) == len(_RATES) else entry(model)
        self._input, self._output = (_rate(given.get(name), self._known.get(name)) for name in _RATES)
        said = overrides.get("max_completion_tokens") or overrides.get("max_tokens")
        self._longest: Any = said or self._known.get("max_output_tokens")
        self._tiered = not self.given and any("_above_" in name for name in self._known)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the price in US dollars; None when it is not known, 0.0 only when it is known to be free."""
        if self._tiered:
            return self._tiers(prompt_tokens, completion_tokens)
        if self._input is None or (self._output is None and completion_tokens):
            return None
        return prompt_tokens * self._input + completion_tokens * (self._output or 0.0)

    def most(self, prompt_tokens: int, max_tokens: int) -> float | None:
        """Return the price of a reply as long as can be: `UNSAID` is the user's limit, or else the map's.

        It is None when the price is not known, or the limit of a reply that costs something.
        """
        longest = self._longest if max_tokens == UNSAID else max_tokens
        if longest is None:
            return 0.0 if self.cost(prompt_tokens, 1) == 0.0 else None
        return self.cost(prompt_tokens, int(longest))

    def unbounded(self, setting: str, rates: str) -> str:
        """Return why no budget can bound a call, or "" if one can.

        Args:
            setting: the setting of the ini that has the model's params.
            rates: the params that price a call.
        """
        if self.most(1, UNSAID) is not None:
            return ""
        return no_longest(self.model, setting) if self.most(1, 1) is not None else no_price(self.model, setting, rates)

    def _tiers(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the price of a model whose long prompts cost more a token."""
        module: Any = litellm()
        try:
            parts = module.cost_per_token(
                model=self.model, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens
            )
        except Exception:  # a price that litellm cannot work out is not known
            return None
        return float(sum(parts))


def _rate(given: object, known: object) -> float | None:
    rate = known if given is None else given
    return None if rate is None else float(rate)  # type: ignore[arg-type]


def count_tokens(model: str, messages: Sequence[Mapping[str, object]]) -> tuple[int, bool]:
    """Return how many tokens the messages are for a model, and whether that is a real count.

    A real count is one by OpenAI's tokenizers with their 3 tokens a message and 3 for the reply: litellm brings the
    files of cl100k_base and o200k_base, which are those of OpenAI's chat models. Its counter takes cl100k_base or a
    downloaded tokenizer for all other models, and a Claude 2 tokenizer for Claude; so these are estimated here,
    by 4 characters a token and, from Hangul and Chinese on, 1.
    """
    texts = [text for message in messages for text in (message.get("role"), *_texts(message.get("content")))]
    provider, _, bare = model.rpartition("/")
    found = encoding_of(bare) if provider in ("", "openai") else None
    if found is None:
        return sum(_estimate(str(text)) + 1 for text in texts), False
    return 3 + sum(3 for _ in messages) + sum(len(found.encode_ordinary(str(text))) for text in texts), True


def _texts(content: object) -> list[object]:
    """Return the texts of a message, also of one that is given as parts."""
    if isinstance(content, list):
        return [part.get("text", "") for part in content if isinstance(part, Mapping)]
    return [] if content is None else [content]


def _estimate(text: str) -> int:
    wide = sum(character >= _WIDE for character in text)
    return wide + (len(text) - wide + 3) // 4
