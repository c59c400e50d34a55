"""Wrap the transports of httpx, and of httpx2, which has the same classes."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_rageval.llm.http.event_loop import on_event_loop
from pytest_rageval.llm.http.http_messages import HttpReply, HttpRequest, readable_encodings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_rageval.llm.http.exchange import Exchange
    from pytest_rageval.llm.http.http_recorder import HttpRecorder

    Wrapper = Callable[[Any], Any]

__all__ = ["wrappers"]


def wrappers(httpx: Any, recorder: HttpRecorder) -> Iterator[tuple[type, str, Wrapper]]:
    """Yield class, method and wrapper of the innermost transports, which mounts, proxies and other transports call."""
    streams = _streams(httpx)
    yield httpx.HTTPTransport, "handle_request", partial(_sync, httpx, streams, recorder)
    yield httpx.AsyncHTTPTransport, "handle_async_request", partial(_async, httpx, streams, recorder)


def _sync(httpx: Any, streams: _Streams, recorder: HttpRecorder, send: Any) -> Any:
    @wraps(send)
    def handle_request(self: Any, request: Any) -> Any:
        if not recorder.handles(str(request.url)):
            return send(self, request)
        exchange = recorder.exchange(_call(request, request.read()))
        for seconds in exchange.waits(may_wait=not on_event_loop()):
            time.sleep(seconds)
        if exchange.reply is not None:
            return _replay(httpx, streams, exchange.reply)
        with exchange:
            response = send(self, _with_readable_encodings(request))
            if exchange.is_stream(response.status_code, response.headers):
                exchange.stream()
                response.stream = streams.recording(response.stream, exchange)
                return response
            try:
                body = b"".join(response.stream)
            finally:
                response.close()
            exchange.end(body)
            return _with_body(httpx, response, body)

    return handle_request


def _async(httpx: Any, streams: _Streams, recorder: HttpRecorder, send: Any) -> Any:
    @wraps(send)
    async def handle_async_request(self: Any, request: Any) -> Any:
        if not recorder.handles(str(request.url)):
            return await send(self, request)
        exchange = recorder.exchange(_call(request, await request.aread()))
        for seconds in exchange.waits():
            import anyio

            await anyio.sleep(seconds)
        if exchange.reply is not None:
            return _replay(httpx, streams, exchange.reply)
        with exchange:
            response = await send(self, _with_readable_encodings(request))
            if exchange.is_stream(response.status_code, response.headers):
                exchange.stream()
                response.stream = streams.async_recording(response.stream, exchange)
                return response
            try:
                body = b"".join([chunk async for chunk in response.stream])
            finally:
                await response.aclose()
            exchange.end(body)
            return _with_body(httpx, response, body)

    return handle_async_request


def _call(request: Any, body: bytes) -> HttpRequest:
    return HttpRequest(request.method.upper(), str(request.url), body, request.headers.get("content-type", ""))


def _with_readable_encodings(request: Any) -> Any:
    accepted = request.headers.get("accept-encoding")
    if readable_encodings(accepted) != accepted:
        request.headers["accept-encoding"] = readable_encodings(accepted)
    return request


def _with_body(httpx: Any, response: Any, body: bytes) -> Any:
    """Return a copy of a response with the body that was read from it."""
    stream = httpx.ByteStream(body)
    return httpx.Response(response.status_code, headers=response.headers, stream=stream, extensions=response.extensions)


def _replay(httpx: Any, streams: _Streams, reply: HttpReply) -> Any:
    stream = httpx.ByteStream(reply.body) if len(reply.chunks) < 2 else streams.replayed(reply.chunks)
    return httpx.Response(reply.status, headers=dict(reply.headers), stream=stream)


class _RecordingStream:
    """A stream that passes each chunk to its exchange."""

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


class _AsyncRecordingStream:
    """A stream of an async client that passes each chunk to its exchange."""

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


class _ReplayedStream:
    """A stream of recorded chunks, for sync and async clients."""

    def __init__(self, chunks: tuple[bytes, ...]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


class _Streams(NamedTuple):
    """The stream classes above, as subclasses of one library's base classes."""

    recording: Any
    async_recording: Any
    replayed: Any


def _streams(httpx: Any) -> _Streams:
    sync, asynchronous = httpx.SyncByteStream, httpx.AsyncByteStream
    return _Streams(
        type("RecordingStream", (_RecordingStream, sync), {}),
        type("AsyncRecordingStream", (_AsyncRecordingStream, asynchronous), {}),
        type("ReplayedStream", (_ReplayedStream, sync, asynchronous), {}),
    )
