"""Ask a model over OpenAI's HTTP protocol with httpx, one request per call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.llm.backends.faults import model_error
from pytest_rageval.llm.backends.http_posts import MAX_REPLY_BYTES, HttpPosts, status_error
from pytest_rageval.llm.backends.openai_protocol import (
    CHAT,
    EMBEDDING,
    Endpoint,
    body_of,
    completion_of,
    embeddings_of,
    error_in,
    parse_reply,
)
from pytest_rageval.llm.backends.tool_calls import raise_if_tools_refused
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings, Message

__all__ = ["TIMEOUT_S", "OpenAIHTTP"]

TIMEOUT_S = 60.0
"""Default of the parameter ``timeout``: seconds of a call."""


class OpenAIHTTP:
    """A `ChatModel` and an `EmbeddingModel` over OpenAI's protocol, without litellm and openai.

    Each call is one request. Every failure is a `ModelError` whose kind names the cause; a missing httpx is a
    `MissingDependencyError`. Address, key and organization come from parameters, or else from the variables
    ``OPENAI_BASE_URL`` (or ``OPENAI_API_BASE``), ``OPENAI_API_KEY`` and ``OPENAI_ORGANIZATION``. httpx reads proxies
    and certificates from the environment (``HTTPS_PROXY``, ``NO_PROXY``, ``SSL_CERT_FILE``).

    Use and close a backend on one event loop.

    Args:
        model: litellm's name of the model, as in ``openai/gpt-4o-mini``.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._posts = HttpPosts()

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the reply to ``messages``; they are sent unchanged, with all their keys."""
        payload = {"messages": [dict(message) for message in messages]}
        body, seconds = await self._ask("chat/completions", payload, params, CHAT)
        return completion_of(self.model, body, params, seconds)

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        """Return one vector per text, in order; an empty list makes no call."""
        if not texts:
            return Embeddings((), Usage(0, 0, 0.0), attempts=0)
        payload = {"input": list(texts)}
        body, seconds = await self._ask("embeddings", payload, params, EMBEDDING)
        return embeddings_of(self.model, body, params, texts, seconds)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._posts.aclose()

    async def _ask(
        self, path: str, payload: Mapping[str, Any], params: Mapping[str, Any], sent: frozenset[str]
    ) -> tuple[Mapping[str, Any], float]:
        """Send one request; return the JSON of its reply and its seconds."""
        secrets: tuple[str, ...] = ()
        try:
            endpoint = Endpoint.of(self.model, params)
            secrets = endpoint.secrets
            body = body_of(self.model, payload, params, sent)
            timeout = float(params.get("timeout") or TIMEOUT_S)
            limit = int(params.get("max_reply_bytes") or MAX_REPLY_BYTES)
            content, seconds = await self._posts.post(
                f"{endpoint.base}/{path}", body, endpoint.headers, endpoint.query, timeout=timeout, limit=limit
            )
            reply = parse_reply(self.model, content)
            if (error := error_in(reply)) is not None:
                raise status_error(error[0], {}, content)
            return reply, seconds
        except MissingDependencyError:
            raise
        except Exception as error:
            fault = model_error(error, self.model, secrets)
            raise_if_tools_refused(fault, error, self.model, params)
            raise fault from None
