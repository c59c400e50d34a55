"""Wrap the transports of httpx and of httpx2, which has the same classes."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_rageval.llm.http.exchange_values import Call, Reply, negotiable
from pytest_rageval.llm.http.waiting import on_event_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_rageval.llm.http.exchange import Exchange
    from pytest_rageval.llm.http.recorder import Recorder

    Wrapper = Callable[[Any], Any]

__all__ = ["wrappers"]


def wrappers(httpx: Any, recorder: Recorder) -> Iterator[tuple[type, str, Wrapper]]:
    """Yield class, method and wrapper; mounts, proxies and transports around these end here."""
    streams = _streams(httpx)
    yield httpx.HTTPTransport, "handle_request", partial(_sync, httpx, streams, recorder)
    yield httpx.AsyncHTTPTransport, "handle_async_request", partial(_async, httpx, streams, recorder)


def _sync(httpx: Any, streams: _Streams, recorder: Recorder, send: Any) -> Any:
    @wraps(send)
    def handle_request(self: Any, request: Any) -> Any:
        if not recorder.takes(str(request.url)):
            return send(self, request)
        exchange = recorder.exchange(_call(request, request.read()))
        for seconds in exchange.waits(may_wait=not on_event_loop()):
            time.sleep(seconds)
        if exchange.reply is not None:
            return _replayed(httpx, streams, exchange.reply)
        with exchange:
            response = send(self, _negotiated(request))
            if exchange.is_stream(response.status_code, response.headers):
                exchange.stream()
                response.stream = streams.passed(response.stream, exchange)
                return response
            try:
                body = b"".join(response.stream)
            finally:
                response.close()
            exchange.end(body)
            return _whole(httpx, response, body)

    return handle_request


def _async(httpx: Any, streams: _Streams, recorder: Recorder, send: Any) -> Any:
    @wraps(send)
    async def handle_async_request(self: Any, request: Any) -> Any:
        if not recorder.takes(str(request.url)):
            return await send(self, request)
        exchange = recorder.exchange(_call(request, await request.aread()))
        for seconds in exchange.waits():
            import anyio

            await anyio.sleep(seconds)
        if exchange.reply is not None:
            return _replayed(httpx, streams, exchange.reply)
        with exchange:
            response = await send(self, _negotiated(request))
            if exchange.is_stream(response.status_code, response.headers):
                exchange.stream()
                response.stream = streams.async_passed(response.stream, exchange)
                return response
            try:
                body = b"".join([chunk async for chunk in response.stream])
            finally:
                await response.aclose()
            exchange.end(body)
            return _whole(httpx, response, body)

    return handle_async_request


def _call(request: Any, body: bytes) -> Call:
    return Call(request.method.upper(), str(request.url), body, request.headers.get("content-type", ""))


def _negotiated(request: Any) -> Any:
    accepted = request.headers.get("accept-encoding")
    if negotiable(accepted) != accepted:
        request.headers["accept-encoding"] = negotiable(accepted)
    return request


def _whole(httpx: Any, response: Any, body: bytes) -> Any:
    """Return a response again whose body was read."""
    stream = httpx.ByteStream(body)
    return httpx.Response(response.status_code, headers=response.headers, stream=stream, extensions=response.extensions)


def _replayed(httpx: Any, streams: _Streams, reply: Reply) -> Any:
    stream = httpx.ByteStream(reply.body) if len(reply.chunks) < 2 else streams.pieces(reply.chunks)
    return httpx.Response(reply.status, headers=dict(reply.headers), stream=stream)


class _Passed:
    """A stream that the exchange takes a copy of."""

    def __init__(self, stream: Any, exchange: Exchange) -> None:
        self._stream, self._exchange = stream, exchange

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._stream:
                yield self._exchange.feed(chunk)
        except Exception:
            self._exchange.fail_stream()
            raise
        self._exchange.end_stream(ended=True)

    def close(self) -> None:
        self._stream.close()
        self._exchange.end_stream(ended=False)


class _AsyncPassed:
    """The same of an async client."""

    def __init__(self, stream: Any, exchange: Exchange) -> None:
        self._stream, self._exchange = stream, exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield self._exchange.feed(chunk)
        except Exception:
            self._exchange.fail_stream()
            raise
        self._exchange.end_stream(ended=True)

    async def aclose(self) -> None:
        await self._stream.aclose()
        self._exchange.end_stream(ended=False)


class _Pieces:
    """A recorded stream."""

    def __init__(self, chunks: tuple[bytes, ...]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


class _Streams(NamedTuple):
    """The streams above as classes of one library."""

    passed: Any
    async_passed: Any
    pieces: Any


def _streams(httpx: Any) -> _Streams:
    sync, unsync = httpx.SyncByteStream, httpx.AsyncByteStream
    return _Streams(
        type("Passed", (_Passed, sync), {}),
        type("AsyncPassed", (_AsyncPassed, unsync), {}),
        type("Pieces", (_Pieces, sync, unsync), {}),
    )
