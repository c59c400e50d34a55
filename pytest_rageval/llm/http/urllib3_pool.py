"""Wrap urllib3's connection pools, which requests, botocore and others send through."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from io import BytesIO
from typing import TYPE_CHECKING, Any

from pytest_rageval.llm.client.session_calls import session_call
from pytest_rageval.llm.http.exchange_values import Call, Reply, negotiable
from pytest_rageval.llm.http.waiting import on_event_loop

if TYPE_CHECKING:
    from pytest_rageval.llm.http.exchange import Exchange
    from pytest_rageval.llm.http.recorder import Recorder

__all__ = ["wrappers"]

_FRAMING = ("transfer-encoding", "content-length")


def wrappers(pools: Any, recorder: Recorder) -> Iterator[tuple[type, str, Callable[[Any], Any]]]:
    """Yield class, method and wrapper. The pools of HTTPS inherit it."""
    yield pools.HTTPConnectionPool, "urlopen", partial(_urlopen, recorder)


def _urlopen(recorder: Recorder, send: Any) -> Any:
    @wraps(send)
    def urlopen(
        self: Any, method: str, url: str, body: Any = None, headers: Any = None, *rest: Any, **named: Any
    ) -> Any:
        address = url if "://" in url else f"{self.scheme}://{self.host}:{self.port}{url}"
        if not recorder.takes(address):
            return send(self, method, url, body, headers, *rest, **named)
        headers = self.headers if headers is None else headers
        body, content = _content(body)
        exchange = recorder.exchange(Call(method.upper(), address, content, _header(headers, "content-type") or ""))
        for seconds in exchange.waits(may_wait=not on_event_loop()):
            time.sleep(seconds)
        reading = {name: named.pop(name, True) for name in ("preload_content", "decode_content")}
        about = {"request_method": method, "request_url": url}
        if exchange.reply is not None:
            return _replayed(exchange.reply, **reading, **about)
        with exchange, session_call():  # retries and redirects come through here again
            response = send(self, method, url, body, _negotiated(headers), *rest, preload_content=False, **named)
            is_stream = exchange.is_stream(response.status, response.headers)
            if is_stream and not reading["preload_content"] and hasattr(response, "_raw_read"):
                exchange.stream()
                _pass_on(response, exchange)
                response.decode_content = reading["decode_content"]
                return response
            data = response.read(decode_content=False)
            response.release_conn()
            exchange.end(data)
            return _whole(response, data, **reading, **about)

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


def _negotiated(headers: Any) -> Any:
    accepted = _header(headers, "accept-encoding")
    if negotiable(accepted) == accepted:
        return headers
    others = {name: value for name, value in headers.items() if str(name).lower() != "accept-encoding"}
    return {**others, "accept-encoding": negotiable(accepted)}


def _pass_on(response: Any, exchange: Exchange) -> None:
    """Copy each piece that any method of a response reads."""
    read, read_chunk, next_chunk, close = (
        getattr(response, name) for name in ("_raw_read", "_handle_chunk", "_update_chunk_length", "close")
    )

    def failing(method: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except Exception:
            exchange.fail_stream()
            raise

    def raw_read(amount: int | None = None, **named: Any) -> Any:
        data = failing(read, amount, **named)
        if data:
            exchange.feed(data)
        if (not data and amount != 0) or amount is None or response.length_remaining == 0:
            exchange.end_stream(ended=True)
        return data

    def handle_chunk(amount: int | None) -> Any:
        return exchange.feed(failing(read_chunk, amount))

    def update_chunk_length() -> None:
        failing(next_chunk)
        if response.chunk_left == 0:
            exchange.end_stream(ended=True)

    def closed() -> None:
        close()
        exchange.end_stream(ended=False)

    response._raw_read, response._handle_chunk = raw_read, handle_chunk
    response._update_chunk_length, response.close = update_chunk_length, closed


class _Body(BytesIO):
    """A body in memory that says when it was read; urllib3 would read it for ever."""

    def isclosed(self) -> bool:
        """Return whether it was read to its end."""
        return self.closed or self.tell() == len(self.getbuffer())


def _whole(response: Any, data: bytes, **about: Any) -> Any:
    """Return a response again whose body was read."""
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


def _replayed(reply: Reply, **about: Any) -> Any:
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
