"""A model that litellm reaches: one request a call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pytest_rageval.llm.backends.faults import malformed, model_error
from pytest_rageval.llm.backends.litellm_import import litellm
from pytest_rageval.llm.backends.prices import Prices
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings, Message

if TYPE_CHECKING:
    from pytest_rageval.llm.backends.http_wire import DirectClient

__all__ = ["LiteLLM"]

TIMEOUT_S = 60.0
_RATES = ("input_cost_per_token", "output_cost_per_token")
_OURS = (*_RATES, "max_reply_bytes")
"""Parameters that are read here, and not sent."""
_CONNECTING = ("api_key", "api_base", "base_url", "organization", "custom_llm_provider", "max_reply_bytes")


class _Never(int):
    """0 retries, where litellm takes a false 0 for nothing said and retries twice."""

    def __bool__(self) -> bool:
        return True


class LiteLLM:
    """A `ChatModel` and an `EmbeddingModel` of any provider, asked through litellm, never more than once a call.

    Every failure is a `ModelError` of the kind that its cause has, but a missing litellm, which no call can do without,
    is a `MissingDependencyError`. Parameters are litellm's, except these four:

    - ``timeout``: seconds of the whole call, 60 by default.
    - ``input_cost_per_token``, ``output_cost_per_token``: US dollars, for a model that the price map lacks.
    - ``max_reply_bytes``: the largest reply, decompressed, 64 MiB by default. It holds for OpenAI's protocol; other
      providers' replies are read by litellm, which has no such limit.

    Parameters that litellm knows the model not to take are left out, such as ``response_format`` for a model that is
    not known to keep to a schema.

    A backend is used on one event loop, and closed on it.

    Args:
        model: litellm's name of the model, as in ``openai/gpt-4o-mini``.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._litellm: Any = None
        self._schema: bool | None = None
        self._prices: dict[tuple[object, ...], Prices] = {}
        self._clients: dict[tuple[object, ...], DirectClient | None] = {}

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
        """Close the connections: those of this model, and those that litellm keeps for the whole process."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            if client is not None:
                await client.aclose()
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    async def _ask(self, call: str, asked: Mapping[str, Any], params: Mapping[str, Any]) -> tuple[Any, float]:
        """Return what one call of litellm's returns, and its seconds; what it raises is raised as a `ModelError`."""
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(litellm)  # seconds, in which the loop goes on
        begun = perf_counter()
        try:
            timeout = float(params.get("timeout") or TIMEOUT_S)
            reply = await self._call(call, {**asked, "timeout": timeout}, params)
            return reply, perf_counter() - begun
        except Exception as error:
            key = params.get("api_key")
            raise model_error(error, self.model, (key,) if key else ()) from None

    def _call(self, call: str, asked: Mapping[str, Any], params: Mapping[str, Any]) -> Awaitable[Any]:
        from pytest_rageval.llm.backends.http_wire import unlogged

        kept = {name: value for name, value in params.items() if name not in _OURS}
        if kept.get("response_format") is None or not self._keeps_schema():
            kept.pop("response_format", None)
        silent = unlogged(self._litellm, self.model, asked, call)
        arguments = {"drop_params": True, **kept, "num_retries": 0, "max_retries": 0, **asked, **silent}
        client = self._client(params) if silent and call == "acompletion" else None
        if client is not None:  # what acompletion does as well, but by way of another thread; it keeps to the timeout
            direct: Awaitable[Any] = self._litellm.completion(self.model, acompletion=True, client=client, **arguments)
            return direct
        return asyncio.wait_for(getattr(self._litellm, call)(self.model, **arguments), asked["timeout"])

    def _client(self, params: Mapping[str, Any]) -> DirectClient | None:
        """Return the client for these parameters, made once; None leaves it to litellm."""
        from pytest_rageval.llm.backends.http_wire import direct_client

        if params.keys() & {"client", "tools", "reasoning_effort"}:  # some go to another address
            return None
        key = tuple(params.get(name) for name in _CONNECTING)
        if key not in self._clients:
            self._clients[key] = direct_client(self._litellm, self.model, params)
        return self._clients[key]

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
        key = tuple(params.get(name) for name in _RATES)
        prices = self._prices.get(key)
        if prices is None:
            prices = self._prices[key] = Prices(self.model, dict(zip(_RATES, key, strict=True)))
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
