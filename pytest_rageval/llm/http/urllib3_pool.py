"""Wrap urllib3's connection pools, which requests, botocore and other libraries use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from io import BytesIO
from typing import TYPE_CHECKING, Any

from pytest_rageval.llm.client.session_calls import session_call
from pytest_rageval.llm.http.event_loop import on_event_loop
from pytest_rageval.llm.http.http_messages import HttpReply, HttpRequest, readable_encodings

if TYPE_CHECKING:
    from pytest_rageval.llm.http.exchange import Exchange
    from pytest_rageval.llm.http.http_recorder import HttpRecorder

__all__ = ["wrappers"]

_FRAMING = ("transfer-encoding", "content-length")


def wrappers(pools: Any, recorder: HttpRecorder) -> Iterator[tuple[type, str, Callable[[Any], Any]]]:
    """Yield class, method and wrapper. The pools for HTTPS inherit the method."""
    yield pools.HTTPConnectionPool, "urlopen", partial(_urlopen, recorder)


def _urlopen(recorder: HttpRecorder, send: Any) -> Any:
    @wraps(send)
    def urlopen(
        self: Any, method: str, url: str, body: Any = None, headers: Any = None, *rest: Any, **kwargs: Any
    ) -> Any:
        address = url if "://" in url else f"{self.scheme}://{self.host}:{self.port}{url}"
        if not recorder.handles(address):
            return send(self, method, url, body, headers, *rest, **kwargs)
        headers = self.headers if headers is None else headers
        body, content = _content(body)
        exchange = recorder.exchange(
            HttpRequest(method.upper(), address, content, _header(headers, "content-type") or "")
        )
        for seconds in exchange.waits(may_wait=not on_event_loop()):
            time.sleep(seconds)
        read_options = {name: kwargs.pop(name, True) for name in ("preload_content", "decode_content")}
        about = {"request_method": method, "request_url": url}
        if exchange.reply is not None:
            return _replay(exchange.reply, **read_options, **about)
        with exchange, session_call():  # urllib3 calls this method again for retries and redirects
            response = send(
                self, method, url, body, _with_readable_encodings(headers), *rest, preload_content=False, **kwargs
            )
            is_stream = exchange.is_stream(response.status, response.headers)
            if is_stream and not read_options["preload_content"] and hasattr(response, "_raw_read"):
                exchange.stream()
                _pass_on(response, exchange)
                response.decode_content = read_options["decode_content"]
                return response
            data = response.read(decode_content=False)
            response.release_conn()
            exchange.end(data)
            return _with_body(response, data, **read_options, **about)

    return urlopen


def _content(body: Any) -> tuple[Any, bytes]:
    """Return a body that can be sent, and its bytes."""
    if body is None:
        return None, b""
    if isinstance(body, str):
        return body, body.encode()
    if isinstance(body, bytes | bytearray | memoryview):
        return body, bytes(body)
    if hasattr(body, "read"):
        data = body.read()
        return data, data.encode() if isinstance(data, str) else data
    pieces = list(body)
    return pieces, b"".join(piece.encode() if isinstance(piece, str) else piece for piece in pieces)


def _header(headers: Mapping[Any, Any] | None, name: str) -> str | None:
    for key, value in (headers or {}).items():
        text = key.decode("latin-1") if isinstance(key, bytes) else str(key)
        if text.lower() == name:
            return value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return None


def _with_readable_encodings(headers: Any) -> Any:
    accepted = _header(headers, "accept-encoding")
    if readable_encodings(accepted) == accepted:
        return headers
    others = {name: value for name, value in headers.items() if str(name).lower() != "accept-encoding"}
    return {**others, "accept-encoding": readable_encodings(accepted)}


def _pass_on(response: Any, exchange: Exchange) -> None:
    """Pass each chunk that any method of a response reads to the exchange."""
    read, read_chunk, next_chunk, close = (
        getattr(response, name) for name in ("_raw_read", "_handle_chunk", "_update_chunk_length", "close")
    )

    def report_failure(method: Any, *arguments: Any, **kwargs: Any) -> Any:
        try:
            return method(*arguments, **kwargs)
        except Exception:
            exchange.fail_stream()
            raise

    def raw_read(amount: int | None = None, **kwargs: Any) -> Any:
        data = report_failure(read, amount, **kwargs)
        if data:
            exchange.feed(data)
        if (not data and amount != 0) or amount is None or response.length_remaining == 0:
            exchange.end_stream(ended=True)
        return data

    def handle_chunk(amount: int | None) -> Any:
        return exchange.feed(report_failure(read_chunk, amount))

    def update_chunk_length() -> None:
        report_failure(next_chunk)
        if response.chunk_left == 0:
            exchange.end_stream(ended=True)

    def close_stream() -> None:
        close()
        exchange.end_stream(ended=False)

    response._raw_read, response._handle_chunk = raw_read, handle_chunk
    response._update_chunk_length, response.close = update_chunk_length, close_stream


class _Body(BytesIO):
    """A body in memory that reports its end, because urllib3 would read it forever."""

    def isclosed(self) -> bool:
        """Return whether it was read to its end."""
        return self.closed or self.tell() == len(self.getbuffer())


def _with_body(response: Any, data: bytes, **about: Any) -> Any:
    """Return a copy of a response with the body that was read from it."""
    from urllib3.response import HTTPResponse

    headers = [(name, value) for name, value in response.headers.items() if name.lower() not in _FRAMING]
    return HTTPResponse(
        _Body(data),
        headers=_headers(headers),
        status=response.status,
        version=response.version,
        reason=response.reason,
        original_response=response._original_response,
        retries=response.retries,
        **about,
    )


def _replay(reply: HttpReply, **about: Any) -> Any:
    from urllib3.response import HTTPResponse

    return HTTPResponse(
        _Body(reply.body), headers=_headers(list(reply.headers.items())), status=reply.status, version=11, **about
    )


def _headers(pairs: list[tuple[str, str]]) -> Any:
    from urllib3._collections import HTTPHeaderDict

    headers = HTTPHeaderDict()
    for name, value in pairs:
        headers.add(name, value)
    return headers
