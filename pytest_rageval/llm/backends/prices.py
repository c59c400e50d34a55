"""Prices of calls, and token counts of messages."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytest_rageval.llm.backends.encodings import encoding_of
from pytest_rageval.llm.backends.faults import no_longest, no_price
from pytest_rageval.llm.backends.litellm_files import litellm_file
from pytest_rageval.model.chat import EMBEDDED, SCRIPT

__all__ = ["RATES", "UNSET", "Prices", "count_tokens", "entry", "entry_in_file", "prices_of"]

UNSET = -1
"""Value of ``max_tokens`` for a call that does not set this parameter."""

RATES = ("input_cost_per_token", "output_cost_per_token")
"""Parameters with prices in US dollars per token."""

_MAP = "model_prices_and_context_window_backup.json"
_ALIAS = "alias_of"
"""Key in the entry of an alias; its value is the name of the model with the prices."""
_TIER = re.compile(r"_above_(\d+)k_tokens")
_WIDE = "\u1100"
"""First code point of scripts with about one token per character."""


def entry(model: str) -> Mapping[str, Any]:
    """Return a model's entry in litellm's price map (prices in US dollars, limits in tokens), or {}.

    If litellm is imported, read its map in memory, with the models registered there; otherwise read its JSON file. An
    entry without provider prefix matches only if it belongs to that provider: a model served by vLLM is not OpenAI's
    model of the same name. A script and the model ``embedded`` are free.
    """
    if model == EMBEDDED or model.startswith(SCRIPT):
        return dict.fromkeys(RATES, 0.0)
    imported: Any = getattr(sys.modules.get("litellm"), "model_cost", None)
    find = imported.get if imported else entry_in_file
    known: Mapping[str, Any] | None = find(model)
    provider, _, bare = model.partition("/")
    if known is None and bare:
        known = find(bare)
        if known is not None and not str(known.get("litellm_provider", "")).startswith(provider):
            return {}
    return known or {}


@lru_cache(maxsize=64)
def entry_in_file(name: str) -> Mapping[str, Any] | None:
    """Return one entry of the map's file; decoding only this entry is 50 times faster than the whole file.

    For an alias, return the entry of the model that it names, as litellm does; None for an alias of an alias.
    """
    try:
        text = litellm_file(_MAP).read_text(encoding="utf-8")
    except OSError:
        return None
    found = _row(text, name)
    if found is not None and _ALIAS in found:
        found = _row(text, str(found[_ALIAS]))
    return None if found is None or _ALIAS in found else found


def _row(text: str, name: str) -> dict[str, Any] | None:
    """Return the JSON object of a model or of an alias in the map's text; None if it is missing."""
    for match in re.finditer(rf"{re.escape(json.dumps(name))}\s*:\s*(?=\{{)", text):
        value: dict[str, Any] = json.JSONDecoder().raw_decode(text, match.end())[0]
        if "litellm_provider" in value or _ALIAS in value:
            return value
    return None


class Prices:
    """The price of a model, from litellm's price map or from the user.

    Args:
        model: litellm's name of the model.
        overrides: a user's ``input_cost_per_token`` and ``output_cost_per_token`` in US dollars, which replace the
            map's (if both are set, the map is not read), and ``max_tokens`` for calls that do not set it.
    """

    def __init__(self, model: str, overrides: Mapping[str, object] | None = None) -> None:
        self.model = model
        overrides = overrides or {}
        rates = {rate: overrides[rate] for rate in RATES if overrides.get(rate) is not None}
        self.is_overridden = bool(rates)
        self._known = {} if len(rates) == len(RATES) else entry(model)
        self._input, self._output = (_rate(rates.get(name), self._known.get(name)) for name in RATES)
        self._cached = None if self.is_overridden else _rate(None, self._known.get("cache_read_input_token_cost"))
        limit = overrides.get("max_completion_tokens") or overrides.get("max_tokens")
        self._max_reply_tokens: Any = limit or self._known.get("max_output_tokens")
        starts = [int(match[1]) * 1000 for name in self._known if (match := _TIER.search(name))]
        self._tier = min(starts) if starts and not self.is_overridden else None

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float | None:
        """Return the price in US dollars: None if unknown, 0.0 only if the model is known to be free.

        ``cached_tokens`` are prompt tokens from the provider's cache; they cost the map's cache rate if it has one.
        """
        if self._tier is not None and prompt_tokens > self._tier:  # litellm's import takes seconds
            return self._tiers(prompt_tokens, completion_tokens)
        if self._input is None or (self._output is None and completion_tokens):
            return None
        cheaper = 0.0 if self._cached is None else cached_tokens * (self._input - self._cached)
        return prompt_tokens * self._input - cheaper + completion_tokens * (self._output or 0.0)

    def max_cost(self, prompt_tokens: int, max_tokens: int) -> float | None:
        """Return the price of a call with the longest possible reply, in US dollars.

        Return None if the price is unknown, or if a paid reply has no known limit. If ``max_tokens`` is `UNSET`, the
        user's limit for all calls counts, or else the map's.
        """
        max_reply_tokens = self._max_reply_tokens if max_tokens == UNSET else max_tokens
        if max_reply_tokens is None:
            return 0.0 if self.cost(prompt_tokens, 1) == 0.0 else None
        return self.cost(prompt_tokens, int(max_reply_tokens))

    def budget_problem(self, setting: str, rates: str) -> str:
        """Return why a budget cannot bound a call, or "" if it can.

        Args:
            setting: the ini setting of the model's params.
            rates: the params with the price of a call, as text for the message.
        """
        if self.max_cost(1, UNSET) is not None:
            return ""
        if self.max_cost(1, 1) is not None:
            return no_longest(self.model, setting)
        return no_price(self.model, setting, rates)

    def _tiers(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the price of a model with a higher rate for long prompts."""
        from pytest_rageval.llm.backends.litellm_import import litellm

        module: Any = litellm()
        try:
            parts = module.cost_per_token(
                model=self.model, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens
            )
        except Exception:  # litellm cannot compute the price, so it is unknown
            return None
        return float(sum(parts))


def prices_of(model: str, params: Mapping[str, Any]) -> Prices:
    """Return the prices of a model called with ``params``."""
    return _prices_of(model, *(params.get(rate) for rate in RATES))


@lru_cache(maxsize=64)
def _prices_of(model: str, *rates: object) -> Prices:
    return Prices(model, dict(zip(RATES, rates, strict=True)))


def _rate(override: object, map_rate: object) -> float | None:
    rate = map_rate if override is None else override
    return None if rate is None else float(rate)  # type: ignore[arg-type]


def count_tokens(model: str, messages: Sequence[Mapping[str, object]]) -> tuple[int, bool]:
    """Return the number of tokens in the messages, and whether it is an exact count.

    Counts for OpenAI's chat models are exact: litellm includes their tokenizers cl100k_base and o200k_base, and OpenAI
    adds 3 tokens per message and 3 for the reply. For other models litellm would use cl100k_base, a downloaded
    tokenizer or Claude 2's. They are estimated here instead: 4 characters per token, and 1 for scripts such as Hangul
    and Chinese. Calls of tools are counted as their JSON, which is an estimate for every model.
    """
    texts = [text for message in messages for text in (message.get("role"), *_texts(message))]
    provider, _, bare = model.rpartition("/")
    tokenizer = encoding_of(bare) if provider in ("", "openai") else None
    if tokenizer is None:
        return sum(_estimate(str(text)) + 1 for text in texts), False
    counted = 3 + sum(3 for _ in messages) + sum(len(tokenizer.encode_ordinary(str(text))) for text in texts)
    return counted, not any(message.get("tool_calls") for message in messages)


def _texts(message: Mapping[str, object]) -> list[object]:
    """Return the texts of a message: its content, which may be a list of parts, and its calls of tools."""
    content, calls = message.get("content"), message.get("tool_calls")
    texts: list[object] = [json.dumps(calls, default=str)] if calls else []
    if isinstance(content, list):
        return [*(part.get("text", "") for part in content if isinstance(part, Mapping)), *texts]
    return texts if content is None else [content, *texts]


def _estimate(text: str) -> int:
    wide = sum(character >= _WIDE for character in text)
    return wide + (len(text) - wide + 3) // 4
