"""Clients of chat models and embedding models, with replay, limits, retries and recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.faults import no_longest
from pytest_rageval.llm.client.base_client import BaseClient
from pytest_rageval.llm.client.completions import completion_from_record, completion_record, cut_at_stop, mask_secrets
from pytest_rageval.llm.client.empty_replies import raise_if_empty
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import ChatModel, Completion, EmbeddingModel, Embeddings, Message

__all__ = ["Client", "Embedder"]


class Client(BaseClient[ChatModel, Completion]):
    """A `ChatModel` with replay, limits, retries, recording and charging; see `BaseClient`.

    Its kind is "model" or "judge".
    """

    KIND = "model"
    METHOD = "complete(messages, **params)"
    RETURNS = "a Completion"
    RATES = "input_cost_per_token and output_cost_per_token"

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the model's reply.

        Secrets in it are masked, so a live reply and its recording have the same score. Its text ends before the first
        of the ``stop`` sequences, even if the provider ignores them. Judges handle empty replies themselves.

        Raises:
            ModelError: there is no reply, or the reply has no text and the model is not a judge; an empty reply is
                still recorded and charged. Other exceptions of the backend propagate.
        """
        reply = await self._reply(messages, params)
        merged = {**self.params, **params}
        reply = cut_at_stop(mask_secrets(reply), merged)
        if self.kind == self.KIND:
            raise_if_empty(reply, self.name, merged)
        return reply

    def _start_request(self, payload: Sequence[Message], params: Mapping[str, object]) -> object:
        return self._backend.complete(payload, **params)

    def _is_reply(self, reply: object, payload: Sequence[Message]) -> bool:
        return isinstance(reply, Completion) and isinstance(reply.text, str)

    def _to_record(self, reply: Completion) -> dict[str, Any]:
        return completion_record(reply)

    def _from_record(self, response: Mapping[str, Any], usage: Usage) -> Completion:
        return completion_from_record(response, usage)

    def _max_cost(self, payload: Sequence[Message], params: Mapping[str, object]) -> tuple[float | None, str]:
        if self._cost_bound is None:
            return None, ""
        from pytest_rageval.llm.backends.prices import UNSET

        limit = params.get("max_completion_tokens") or params.get("max_tokens")
        max_usd = self._cost_bound(payload, {**params, "max_tokens": limit or UNSET})
        if max_usd is None and not limit and self._cost_bound(payload, {**params, "max_tokens": 1}) is not None:
            raise ModelError("budget", no_longest(self.name, self._setting), attempts=0)
        longest = f"the longest possible reply of {self.name} is assumed; give a lower max_tokens in {self._setting}"
        return max_usd, "" if limit else longest


class Embedder(BaseClient[EmbeddingModel, Embeddings]):
    """An `EmbeddingModel` with replay, limits, retries, recording and charging; see `BaseClient`."""

    KIND = "embedding"
    METHOD = "embed(texts, **params)"
    RETURNS = "Embeddings with one vector a text"
    RATES = "input_cost_per_token"

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        """Return one vector per text; an empty list makes no call.

        Raises:
            ModelError: there is no reply. Other exceptions of the backend propagate.
        """
        if isinstance(texts, str):
            raise TypeError("embed takes a list of texts, not one text; write embed([text])")
        if not texts:
            return Embeddings((), Usage(0, 0, 0.0), attempts=0)
        return await self._reply(texts, params)

    def _start_request(self, payload: Sequence[str], params: Mapping[str, object]) -> object:
        return self._backend.embed(payload, **params)

    def _is_reply(self, reply: object, payload: Sequence[str]) -> bool:
        return isinstance(reply, Embeddings) and len(reply.vectors) == len(payload)

    def _to_record(self, reply: Embeddings) -> dict[str, Any]:
        return {"vectors": reply.vectors, "model": reply.model}

    def _from_record(self, response: Mapping[str, Any], usage: Usage) -> Embeddings:
        return Embeddings(response["vectors"], usage, response["model"], attempts=0, replayed=True)

    def _max_cost(self, payload: Sequence[str], params: Mapping[str, object]) -> tuple[float | None, str]:
        messages = [{"role": "", "content": text} for text in payload]  # texts cost as much as a prompt without a reply
        return (self._cost_bound(messages, {**params, "max_tokens": 0}) if self._cost_bound else None), ""

    @property
    def _setting(self) -> str:
        return "rag_embedder_params"
