"""The client of an embedding model: texts to vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.llm.client.asker import Asker
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import EmbeddingModel, Embeddings

__all__ = ["Embedder"]


class Embedder(Asker[EmbeddingModel, Embeddings]):
    """An `EmbeddingModel` with replay, limits, retries, recording and charging; see `Asker`."""

    KIND = "embedding"
    METHOD = "embed(texts, **params)"
    RETURNS = "Embeddings with one vector a text"
    RATES = "input_cost_per_token"

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        """Return one vector per text; an empty list makes no call.

        Raises `ModelError` if there is no reply; other exceptions of the backend propagate.
        """
        if isinstance(texts, str):
            raise TypeError("embed takes a list of texts and was given one text; write embed([text])")
        if not texts:
            return Embeddings((), Usage(0, 0, 0.0), attempts=0)
        return await self._reply(texts, params)

    def _start_request(self, asked: Sequence[str], params: Mapping[str, object]) -> object:
        return self._backend.embed(asked, **params)

    def _is_reply(self, reply: object, asked: Sequence[str]) -> bool:
        return isinstance(reply, Embeddings) and len(reply.vectors) == len(asked)

    def _to_record(self, reply: Embeddings) -> dict[str, Any]:
        return {"vectors": reply.vectors, "model": reply.model}

    def _from_record(self, response: Mapping[str, Any], usage: Usage) -> Embeddings:
        return Embeddings(response["vectors"], usage, response["model"], attempts=0, replayed=True)

    def _max_cost(self, asked: Sequence[str], params: Mapping[str, object]) -> tuple[float | None, str]:
        messages = [{"role": "", "content": text} for text in asked]  # texts cost as a prompt without a reply
        return (self._most(messages, {**params, "max_tokens": 0}) if self._most else None), ""

    @property
    def _setting(self) -> str:
        return "rag_embedder_params"
