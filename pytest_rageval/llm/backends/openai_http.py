"""Ask a model over OpenAI's HTTP protocol with httpx, one request per call."""

from __future__ import annotations

import asyncio
import os
import sys
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
from pytest_rageval.llm.backends.tool_calls import raise_if_tools_refused
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Embeddings, Message

__all__ = ["MAX_REPLY_BYTES", "TIMEOUT_S", "OpenAIHTTP", "ReplyTooLargeError", "load"]

MAX_REPLY_BYTES = 64 * 2**20
"""Default of the parameter ``max_reply_bytes``: decompressed bytes of a reply."""

MAX_REDIRECTS = 10
"""Maximum redirects of one request."""

TIMEOUT_S = 60.0
"""Default of the parameter ``timeout``: seconds of a call."""

_COMMAND_LINE = "httpx._main"
"""The program `httpx`. It imports click, pygments and rich, which takes longer than the rest of httpx."""


class ReplyTooLargeError(Exception):
    """A reply is larger than ``max_reply_bytes``."""


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
        self._clients: list[Any] = []
        self._idle: list[Any] = []  # idle clients; each has one connection, because httpx's pool is slow with more
        self._loaded = False

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
        clients, self._clients, self._idle = self._clients, [], []
        for client in clients:
            await client.aclose()

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
            client = await self._free_client()
            start = perf_counter()
            try:
                content = await asyncio.wait_for(_exchange(client, path, endpoint, body, limit), timeout)
            finally:
                if client in self._clients:
                    self._idle.append(client)
            seconds = perf_counter() - start
            reply = parsed(self.model, content)
            if (error := error_in(reply)) is not None:
                raise _refusal(error[0], {}, content)
            return reply, seconds
        except MissingDependencyError:
            raise
        except Exception as error:
            fault = model_error(error, self.model, secrets)
            raise_if_tools_refused(fault, error, self.model, params)
            raise fault from None

    async def _free_client(self) -> Any:
        """Return an idle client or a new one; a new one raises for invalid proxies or certificates."""
        try:
            if not self._loaded:
                await asyncio.to_thread(load)  # do not block the loop while importing
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
    """Send one request; return the decompressed body of its reply, or raise for an error status.

    Redirects are followed here because httpx would read and decompress each of them completely.
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
    """Return the decompressed body of a reply; raise `ReplyTooLargeError` above ``limit`` bytes.

    httpx decompresses whole chunks, which may grow a thousandfold; this function stops at the limit.
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
    """Return the exception of an error status, with the decompressed body."""
    httpx = _httpx()
    kept_headers = [
        (name, value) for name, value in headers.items() if name.lower() not in ("content-encoding", "content-length")
    ]
    response = httpx.Response(status, headers=kept_headers, content=content)
    text = content[:2000].decode("utf-8", "replace")
    error: Exception = httpx.HTTPStatusError(f"status {status}: {text}", request=None, response=response)
    return error


def load() -> None:
    """Import the first call's modules, and read the certificates."""
    _httpx()
    _certificates(*_bundle())
    import_module("httpcore")
    anyio: Any = import_module("anyio")
    warm_up = Thread(target=anyio.run, args=(anyio.sleep, 0))  # imports what connections on asyncio need
    warm_up.start()  # anyio refuses to run in a thread whose test uses it
    warm_up.join()


def _httpx() -> Any:
    if "httpx" not in sys.modules:
        sys.modules.setdefault(_COMMAND_LINE, None)  # type: ignore[arg-type]  # makes its import fail, as without rich
    try:
        return import_module("httpx")
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        raise MissingDependencyError("asking a model", "llm") from None
    finally:
        if sys.modules.get(_COMMAND_LINE, "") is None:
            sys.modules.pop(_COMMAND_LINE, None)


def _bundle() -> tuple[str | None, str | None]:
    return os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")


@lru_cache(maxsize=2)
def _certificates(file: str | None, folder: str | None) -> Any:
    """Return httpx's TLS settings; read again only if the certificate variables change."""
    return _httpx().create_ssl_context()
