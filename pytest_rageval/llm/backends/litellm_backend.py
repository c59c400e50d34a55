"""Ask a model through litellm, with one request per call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from copy import deepcopy
from time import perf_counter
from typing import Any

from pytest_rageval.llm.backends.faults import malformed, model_error
from pytest_rageval.llm.backends.litellm_import import litellm
from pytest_rageval.llm.backends.prices import RATES, prices_of
from pytest_rageval.llm.backends.tool_calls import has_tools, raise_if_tools_refused, tool_calls_of
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings, Message

__all__ = ["LiteLLM"]

TIMEOUT_S = 60.0
_NOT_SENT = (*RATES, "max_reply_bytes")
"""Parameters that are used here and not sent."""
_ALLOWED = ("tools", "tool_choice", "parallel_tool_calls")
"""Parameters that litellm must send even if its list does not say that the model supports them."""


class _ZeroRetries(int):
    """The number 0 that is true: litellm takes a false 0 for an unset parameter, and retries twice."""

    def __bool__(self) -> bool:
        return True


class LiteLLM:
    """A `ChatModel` and an `EmbeddingModel` of any provider through litellm, with one request per call.

    Every failure is a `ModelError` whose kind names the cause, except a missing litellm: a `MissingDependencyError`.
    Parameters are litellm's, except these:

    - ``timeout``: seconds for the whole call, 60 by default.
    - ``input_cost_per_token``, ``output_cost_per_token``: US dollars, for a model missing from the price map.
    - ``max_reply_bytes`` is ignored: litellm reads replies itself and has no such limit.

    If litellm says that the model does not support a parameter, such as ``response_format``, it is not sent. Tools are
    always sent, because litellm's list of models with tools lacks most models that people serve themselves.

    Use and close a backend on one event loop.

    Args:
        model: litellm's name of the model, as in ``anthropic/claude-sonnet-4-5``.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._litellm: Any = None
        self._schema: bool | None = None

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the reply to ``messages``; they are sent unchanged, with all their keys."""
        reply, seconds = await self._ask("acompletion", {"messages": [dict(message) for message in messages]}, params)
        if not reply.choices:
            raise malformed(self.model, "no choices")
        choice = reply.choices[0]
        usage = self._usage(reply, params, seconds)
        text, refusal = choice.message.content or "", _refusal(choice.message)
        refused = bool(refusal) and not text.strip()
        content = refusal if refused else text
        raw_calls = [call.model_dump() for call in choice.message.tool_calls or ()]
        calls, reason = tool_calls_of(self.model, raw_calls), choice.finish_reason
        return Completion(content, usage, reason, reply.model or "", refused=refused, tool_calls=calls)

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        """Return one vector per text, in order; an empty list makes no call."""
        if not texts:
            return Embeddings((), Usage(0, 0, 0.0), attempts=0)
        payload = {"input": list(texts), "max_retries": _ZeroRetries()}
        reply, seconds = await self._ask("aembedding", payload, params)
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
        """Close the connections that litellm shares in the whole process."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    async def _ask(self, call: str, payload: Mapping[str, Any], params: Mapping[str, Any]) -> tuple[Any, float]:
        """Call a litellm function; return its result and the seconds that it took; raise its errors as `ModelError`."""
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(litellm)  # importing takes seconds; do not block the loop
        sent_params = {name: value for name, value in params.items() if name not in _NOT_SENT}
        if sent_params.get("response_format") is None or not self._supports_schema():
            sent_params.pop("response_format", None)
        start = perf_counter()
        try:
            timeout = float(params.get("timeout") or TIMEOUT_S)
            arguments = {
                "drop_params": True,
                **sent_params,
                "num_retries": 0,
                "max_retries": 0,
                **payload,
                "timeout": timeout,
            }
            model = self.model
            if has_tools(params):
                model, arguments = _with_tools(model, arguments)
            reply = await asyncio.wait_for(getattr(self._litellm, call)(model, **arguments), timeout)
            return reply, perf_counter() - start
        except Exception as error:
            key = params.get("api_key")
            fault = model_error(error, self.model, (key,) if key else ())
            raise_if_tools_refused(fault, error, self.model, params)
            raise fault from None

    def _supports_schema(self) -> bool:
        """Return whether litellm says that the model supports JSON schemas; False for Ollama, to call no server."""
        if self._schema is None:
            asks_server = self.model.startswith("ollama")
            self._schema = not asks_server and bool(self._litellm.supports_response_schema(model=self.model))
        return self._schema

    def _usage(self, reply: Any, params: Mapping[str, Any], seconds: float) -> Usage:
        usage: Any = getattr(reply, "usage", None)
        sent, received = getattr(usage, "prompt_tokens", 0), getattr(usage, "completion_tokens", 0)
        if not sent:  # litellm's value for a reply without a count
            return Usage(latency_s=seconds)
        prices = prices_of(self.model, params)
        cost = prices.cost(sent, received)
        if (
            cost is not None
            and not prices.is_overridden
            and getattr(usage.prompt_tokens_details, "cached_tokens", None)
        ):
            cost = self._with_cache(reply)
        return Usage(sent, received, cost, seconds)

    def _with_cache(self, reply: Any) -> float | None:
        """Return the price of a reply whose prompt has cached tokens, which are cheaper."""
        try:
            return float(self._litellm.completion_cost(completion_response=reply, model=self.model))
        except Exception:  # litellm cannot compute it: the price is unknown
            return None


def _with_tools(model: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the model and arguments that make litellm send the tools of a call unchanged.

    Otherwise litellm would import the package mcp, leave out the tools if its list does not say that the model supports
    tools, and turn them into its own prompt for Ollama's older API. It gets a copy of the tools, because for some
    providers it removes parts of their schemas.
    """
    allowed = [*(arguments.get("allowed_openai_params") or ()), *_ALLOWED]
    if model.startswith("ollama/"):
        model = model.replace("ollama/", "ollama_chat/", 1)
    tools = deepcopy(arguments["tools"])
    return model, {**arguments, "tools": tools, "allowed_openai_params": allowed, "_skip_mcp_handler": True}


def _refusal(message: Any) -> str:
    """Return OpenAI's field ``refusal``, "" without it; litellm may move it to the provider's fields."""
    provider_fields = getattr(message, "provider_specific_fields", None) or {}
    refusal = getattr(message, "refusal", None) or provider_fields.get("refusal")
    return refusal if isinstance(refusal, str) else ""
