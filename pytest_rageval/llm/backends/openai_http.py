"""A model behind OpenAI's HTTP protocol: one request a call, over httpx."""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from threading import Thread
from time import perf_counter
from typing import Any

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.llm.backends.faults import fault, model_error
from pytest_rageval.llm.backends.openai_protocol import (
    CHAT,
    EMBEDDING,
    Endpoint,
    body_of,
    completion_of,
    embeddings_of,
    error_in,
    parsed,
)
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings, Message

__all__ = ["MAX_REPLY_BYTES", "TIMEOUT_S", "OpenAIHTTP", "ReplyTooLargeError", "load"]

MAX_REPLY_BYTES = 64 * 2**20
"""Bytes of a reply, decompressed, that are read unless the parameter ``max_reply_bytes`` says otherwise."""

MAX_REDIRECTS = 10
"""Redirects of one request that are followed."""

TIMEOUT_S = 60.0
"""Seconds of a call unless the parameter ``timeout`` says otherwise."""


class ReplyTooLargeError(Exception):
    """A reply is larger than ``max_reply_bytes``."""


class OpenAIHTTP:
    """A `ChatModel` and an `EmbeddingModel` that speaks OpenAI's protocol, without litellm and openai.

    Each call is one request. Every failure is a `ModelError` of the kind that its cause has; a missing httpx is a
    `MissingDependencyError`. The address, the key and the organization are parameters, else the variables
    ``OPENAI_BASE_URL`` (or ``OPENAI_API_BASE``), ``OPENAI_API_KEY`` and ``OPENAI_ORGANIZATION``. Proxies and
    certificates are those of the environment, as httpx reads it (``HTTPS_PROXY``, ``NO_PROXY``, ``SSL_CERT_FILE``).

    A backend is used on one event loop, and closed on it.

    Args:
        model: litellm's name of the model, as in ``openai/gpt-4o-mini``.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self._clients: list[Any] = []
        self._idle: list[Any] = []  # of the clients; each has one connection, as httpx's pool slows down with more
        self._loaded = False

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the reply to ``messages``, which go as they are, with all their keys."""
        asked = {"messages": [dict(message) for message in messages]}
        body, seconds = await self._ask("chat/completions", asked, params, CHAT)
        return completion_of(self.model, body, params, seconds)

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        """Return one vector a text, in their order; no texts are no call."""
        if not texts:
            return Embeddings((), Usage(0, 0, 0.0), attempts=0)
        asked = {"input": list(texts)}
        body, seconds = await self._ask("embeddings", asked, params, EMBEDDING)
        return embeddings_of(self.model, body, params, texts, seconds)

    async def aclose(self) -> None:
        """Close the connections."""
        clients, self._clients, self._idle = self._clients, [], []
        for client in clients:
            await client.aclose()

    async def _ask(
        self, path: str, asked: Mapping[str, Any], params: Mapping[str, Any], sent: frozenset[str]
    ) -> tuple[Mapping[str, Any], float]:
        """Return the JSON of the reply to one request, and its seconds."""
        secrets: tuple[str, ...] = ()
        try:
            endpoint = Endpoint.of(self.model, params)
            secrets = endpoint.secrets
            body = body_of(self.model, asked, params, sent)
            timeout = float(params.get("timeout") or TIMEOUT_S)
            limit = int(params.get("max_reply_bytes") or MAX_REPLY_BYTES)
            client = await self._taken()
            begun = perf_counter()
            try:
                content = await asyncio.wait_for(_exchange(client, path, endpoint, body, limit), timeout)
            finally:
                if client in self._clients:
                    self._idle.append(client)
            seconds = perf_counter() - begun
            reply = parsed(self.model, content)
            if (error := error_in(reply)) is not None:
                raise _refusal(error[0], {}, content)
            return reply, seconds
        except MissingDependencyError:
            raise
        except Exception as error:
            raise model_error(error, self.model, secrets) from None

    async def _taken(self) -> Any:
        """Return an idle client, or a new one, whose errors are those of proxies and certificates."""
        try:
            if not self._loaded:
                await asyncio.to_thread(load)  # a part of a second, in which the loop goes on
                self._loaded = True
            if not self._idle:
                self._clients.append(_client())
                return self._clients[-1]
            return self._idle.pop()
        except MissingDependencyError:
            raise
        except Exception as error:  # httpx, ssl and the file system have errors of their own
            raise fault("bad_address", self.model, f"{type(error).__name__}: {error}") from None


async def _exchange(client: Any, path: str, endpoint: Endpoint, body: bytes, limit: int) -> bytes:
    """Send one request and return the decompressed body of its reply; an error status raises.

    Redirects are followed here, as httpx would read and decompress each of them whole.
    """
    request = client.build_request(
        "POST", f"{endpoint.base}/{path}", content=body, headers=endpoint.headers, params=endpoint.query or None
    )
    for _ in range(1 + MAX_REDIRECTS):
        response = await client.send(request, stream=True)
        try:
            if response.next_request is None:
                content = await _read(response, limit)
                if response.status_code >= 400:
                    raise _refusal(response.status_code, response.headers, content)
                return content
            request = response.next_request
        finally:
            await response.aclose()
    raise _httpx().TooManyRedirects(f"more than {MAX_REDIRECTS} redirects", request=request)


def _client() -> Any:
    client: Any = _httpx().AsyncClient(verify=_certificates(*_bundle()), timeout=None)
    return client


async def _read(response: Any, limit: int) -> bytes:
    """Return the body of a reply, decompressed; more than ``limit`` bytes are a `ReplyTooLargeError`.

    httpx decompresses each chunk as a whole, which may be a thousand times its size, so this does it instead.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise _httpx().DecodingError(f"its reply is encoded as {encoding}, and only gzip was asked for")
    unzip = None if encoding in ("identity", "") else zlib.decompressobj(32 + zlib.MAX_WBITS)
    content = bytearray()
    async for chunk in response.aiter_raw():
        try:
            content += chunk if unzip is None else unzip.decompress(chunk, limit + 1 - len(content))
        except zlib.error as error:
            raise _httpx().DecodingError(str(error)) from None
        if len(content) > limit:
            raise ReplyTooLargeError(f"its reply is larger than {limit:,} bytes")
    return bytes(content)


def _refusal(status: int, headers: Mapping[str, str], content: bytes) -> Exception:
    """Return the exception of an error status, with its decompressed body."""
    httpx = _httpx()
    kept = [
        (name, value) for name, value in headers.items() if name.lower() not in ("content-encoding", "content-length")
    ]
    response = httpx.Response(status, headers=kept, content=content)
    text = content[:2000].decode("utf-8", "replace")
    error: Exception = httpx.HTTPStatusError(f"status {status}: {text}", request=None, response=response)
    return error


def load() -> None:
    """Import what the first call needs, and read the certificates."""
    _httpx()
    _certificates(*_bundle())
    import_module("httpcore")
    anyio: Any = import_module("anyio")
    warm_up = Thread(target=anyio.run, args=(anyio.sleep, 0))  # imports what connections on asyncio need
    warm_up.start()  # anyio refuses to run in a thread whose test uses it
    warm_up.join()


def _httpx() -> Any:
    try:
        return import_module("httpx")
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        raise MissingDependencyError("asking a model", "llm") from None


def _bundle() -> tuple[str | None, str | None]:
    return os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")


@lru_cache(maxsize=2)
def _certificates(file: str | None, folder: str | None) -> Any:
    """Return httpx's TLS settings, read once as long as the variables that name certificates stay the same."""
    return _httpx().create_ssl_context()
