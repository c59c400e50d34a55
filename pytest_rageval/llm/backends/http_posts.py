"""Send POST requests with httpx, and read their replies up to a limit."""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Mapping
from functools import lru_cache, partial
from importlib import import_module
from threading import Thread
from time import perf_counter
from typing import Any

from pytest_rageval.errors import MissingDependencyError

__all__ = [
    "MAX_REPLY_BYTES",
    "HttpPosts",
    "RedirectError",
    "ReplyTooLargeError",
    "UnusableClientError",
    "load",
    "status_error",
]

MAX_REPLY_BYTES = 64 * 2**20
"""Default limit of a reply, in decompressed bytes."""

MAX_REDIRECTS = 10
"""Maximum redirects of one request."""


class ReplyTooLargeError(Exception):
    """A reply is larger than the limit."""


class RedirectError(Exception):
    """A redirect drops the request's body or leads to another server, so its reply would be another one."""


class UnusableClientError(Exception):
    """httpx cannot be set up: proxies or certificates of the environment are invalid."""


class HttpPosts:
    """The connections of one backend. httpx reads proxies and certificates from the environment.

    Use and close them on one event loop.

    Args:
        purpose: what needs httpx, such as "asking a model"; for the message if httpx is missing.
        extra: the extra of this package that installs httpx.
    """

    def __init__(self, purpose: str = "asking a model", extra: str = "llm") -> None:
        self._load = partial(load, purpose, extra)
        self._clients: list[Any] = []
        self._idle: list[Any] = []  # idle clients; each has one connection, because httpx's pool is slow with more
        self._loaded = False

    async def post(
        self,
        address: str,
        body: bytes,
        headers: Mapping[str, str],
        query: Mapping[str, Any] | None = None,
        *,
        timeout: float,
        limit: int = MAX_REPLY_BYTES,
    ) -> tuple[bytes, float]:
        """Send one request; return the decompressed body of its reply, and the seconds that it took.

        Raises:
            MissingDependencyError: httpx is not installed.
            UnusableClientError: httpx cannot be set up.
            RedirectError: a redirect drops the body, as 301 and 302 do, or leads to another server.
            ReplyTooLargeError: the reply has more than ``limit`` bytes.
            httpx.HTTPStatusError: the status is an error; see `status_error`.
            Exception: any other error of httpx; a TimeoutError after ``timeout`` seconds.
        """
        client = await self._free_client()
        start = perf_counter()
        try:
            request = client.build_request("POST", address, content=body, headers=headers, params=query or None)
            content = await asyncio.wait_for(_exchange(client, request, limit), timeout)
        finally:
            if client in self._clients:
                self._idle.append(client)
        return content, perf_counter() - start

    async def aclose(self) -> None:
        """Close the connections."""
        clients, self._clients, self._idle = self._clients, [], []
        for client in clients:
            await client.aclose()

    async def _free_client(self) -> Any:
        """Return an idle client or a new one."""
        try:
            if not self._loaded:
                await asyncio.to_thread(self._load)  # do not block the loop while importing
                self._loaded = True
            if not self._idle:
                self._clients.append(_client())
                return self._clients[-1]
            return self._idle.pop()
        except MissingDependencyError:
            raise
        except Exception as error:  # each of httpx, ssl and the file system raises other errors
            raise UnusableClientError(str(error)) from error


def status_error(status: int, headers: Mapping[str, str], content: bytes) -> Exception:
    """Return the exception of an error status, with the decompressed body."""
    httpx = _httpx()
    plain_headers = [
        (name, value) for name, value in headers.items() if name.lower() not in ("content-encoding", "content-length")
    ]
    response = httpx.Response(status, headers=plain_headers, content=content)
    text = content[:2000].decode("utf-8", "replace")
    error: Exception = httpx.HTTPStatusError(f"status {status}: {text}", request=None, response=response)
    return error


def load(purpose: str = "asking a model", extra: str = "llm") -> None:
    """Import the modules that the first request needs, and read the certificates.

    Raises:
        MissingDependencyError: httpx is not installed.
    """
    try:
        _httpx()
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        raise MissingDependencyError(purpose, extra) from None
    _certificates(*_bundle())
    import_module("httpcore")
    anyio: Any = import_module("anyio")
    warm_up = Thread(target=anyio.run, args=(anyio.sleep, 0))  # imports what connections on asyncio need
    warm_up.start()  # anyio refuses to run in a thread whose test uses it
    warm_up.join()


async def _exchange(client: Any, request: Any, limit: int) -> bytes:
    """Send one request; return the decompressed body of its reply, or raise for an error status.

    This function follows redirects itself, because httpx would read and decompress each of them completely. It follows
    none to another server: httpx drops Authorization there, but sends all other headers, which may hold a key.
    """
    for _ in range(1 + MAX_REDIRECTS):
        response = await client.send(request, stream=True)
        try:
            if response.next_request is None:
                content = await _read(response, limit)
                if response.status_code >= 400:
                    raise status_error(response.status_code, response.headers, content)
                return content
            earlier, request = request.url, response.next_request
            leads = f"status {response.status_code} leads to {request.url.copy_with(query=None, userinfo=b'')}"
            if request.method != "POST":
                raise RedirectError(f"{leads} without the request's body")
            if _server(request.url) != _server(earlier):
                raise RedirectError(f"{leads}, which is another server")
        finally:
            await response.aclose()
    raise _httpx().TooManyRedirects(f"more than {MAX_REDIRECTS} redirects", request=request)


def _server(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


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


def _client() -> Any:
    client: Any = _httpx().AsyncClient(verify=_certificates(*_bundle()), timeout=None)
    return client


def _httpx() -> Any:
    return import_module("httpx")


def _bundle() -> tuple[str | None, str | None]:
    return os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")


@lru_cache(maxsize=2)
def _certificates(file: str | None, folder: str | None) -> Any:
    """Return httpx's TLS settings; read again only if the certificate variables change."""
    return _httpx().create_ssl_context()
