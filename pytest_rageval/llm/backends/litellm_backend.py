"""A model that litellm reaches: one request a call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from pytest_rageval.llm.backends.faults import malformed, model_error
from pytest_rageval.llm.backends.litellm_import import litellm
from pytest_rageval.llm.backends.prices import RATES, prices_of
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings, Message

__all__ = ["LiteLLM"]

TIMEOUT_S = 60.0
_OURS = (*RATES, "max_reply_bytes")
"""Parameters that are read here, and not sent."""


class _Never(int):
    """0 retries, where litellm takes a false 0 for nothing said and retries twice."""

    def __bool__(self) -> bool:
        return True


class LiteLLM:
    """A `ChatModel` and an `EmbeddingModel` of any provider, asked through litellm, never more than once a call.

    Every failure is a `ModelError` of the kind that its cause has, but a missing litellm, which no call can do without,
    is a `MissingDependencyError`. Parameters are litellm's, except these:

    - ``timeout``: seconds of the whole call, 60 by default.
    - ``input_cost_per_token``, ``output_cost_per_token``: US dollars, for a model that the price map lacks.
    - ``max_reply_bytes`` is ignored: litellm reads replies itself and has no such limit.

    Parameters that litellm knows the model not to take are left out, such as ``response_format`` for a model that is
    not known to keep to a schema.

    A backend is used on one event loop, and closed on it.

    Args:
        model: litellm's name of the model, as in ``anthropic/claude-sonnet-4-5``.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._litellm: Any = None
        self._schema: bool | None = None

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the reply to ``messages``, which go as they are, with all their keys."""
        reply, seconds = await self._ask("acompletion", {"messages": [dict(message) for message in messages]}, params)
        if not reply.choices:
            raise malformed(self.model, "no choices")
        choice = reply.choices[0]
        usage = self._usage(reply, params, seconds)
        text, refusal = choice.message.content or "", _refusal(choice.message)
        refused = bool(refusal) and not text.strip()
        said = refusal if refused else text
        return Completion(said, usage, choice.finish_reason, reply.model or "", refused=refused)

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        """Return one vector a text, in their order; no texts are no call."""
        if not texts:
            return Embeddings((), Usage(0, 0, 0.0), attempts=0)
        asked = {"input": list(texts), "max_retries": _Never()}
        reply, seconds = await self._ask("aembedding", asked, params)
        try:
            rows = sorted(reply.data, key=lambda row: int(row["index"]))
            vectors = tuple(row["embedding"] for row in rows)
            embeddings = Embeddings(vectors, self._usage(reply, params, seconds), reply.model or "")
        except (KeyError, TypeError, ValueError) as error:
            raise malformed(self.model, f"no vectors ({error})") from None
        if len(vectors) != len(texts):
            raise malformed(self.model, f"{len(vectors)} vectors of {len(texts)} texts")
        return embeddings

    async def aclose(self) -> None:
        """Close the connections that litellm keeps for the whole process."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    async def _ask(self, call: str, asked: Mapping[str, Any], params: Mapping[str, Any]) -> tuple[Any, float]:
        """Return what one call of litellm's returns, and its seconds; what it raises is raised as a `ModelError`."""
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(litellm)  # seconds, in which the loop goes on
        kept = {name: value for name, value in params.items() if name not in _OURS}
        if kept.get("response_format") is None or not self._keeps_schema():
            kept.pop("response_format", None)
        begun = perf_counter()
        try:
            timeout = float(params.get("timeout") or TIMEOUT_S)
            arguments = {"drop_params": True, **kept, "num_retries": 0, "max_retries": 0, **asked, "timeout": timeout}
            reply = await asyncio.wait_for(getattr(self._litellm, call)(self.model, **arguments), timeout)
            return reply, perf_counter() - begun
        except Exception as error:
            key = params.get("api_key")
            raise model_error(error, self.model, (key,) if key else ()) from None

    def _keeps_schema(self) -> bool:
        """Whether litellm knows that the model keeps to a JSON schema; of Ollama's it would ask the server."""
        if self._schema is None:
            asks = self.model.startswith("ollama")
            self._schema = not asks and bool(self._litellm.supports_response_schema(model=self.model))
        return self._schema

    def _usage(self, reply: Any, params: Mapping[str, Any], seconds: float) -> Usage:
        usage: Any = getattr(reply, "usage", None)
        sent, got = getattr(usage, "prompt_tokens", 0), getattr(usage, "completion_tokens", 0)
        if not sent:  # what litellm makes of a reply that does not say
            return Usage(latency_s=seconds)
        prices = prices_of(self.model, params)
        cost = prices.cost(sent, got)
        if cost is not None and not prices.given and getattr(usage.prompt_tokens_details, "cached_tokens", None):
            cost = self._with_cache(reply)
        return Usage(sent, got, cost, seconds)

    def _with_cache(self, reply: Any) -> float | None:
        """Return the price of a reply part of whose prompt was cheaper, because the provider had it already."""
        try:
            return float(self._litellm.completion_cost(completion_response=reply, model=self.model))
        except Exception:  # a price that litellm cannot work out is not known
            return None


def _refusal(message: Any) -> str:
    """Return the text of OpenAI's field ``refusal``, "" without one; litellm keeps it aside."""
    aside = getattr(message, "provider_specific_fields", None) or {}
    refusal = getattr(message, "refusal", None) or aside.get("refusal")
    return refusal if isinstance(refusal, str) else ""
