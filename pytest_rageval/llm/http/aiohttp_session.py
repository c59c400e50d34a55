"""Wrap aiohttp's sessions, which litellm also uses for async calls."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from http import HTTPStatus
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pytest_rageval.llm.http.http_messages import HttpReply, HttpRequest, readable_encodings

if TYPE_CHECKING:
    from pytest_rageval.llm.http.exchange import Exchange
    from pytest_rageval.llm.http.http_recorder import HttpRecorder

__all__ = ["wrappers"]

LIMIT = 2**16
_pump_tasks: set[asyncio.Task[None]] = set()
"""Tasks that pass streams on; the loop itself keeps only weak references to tasks."""


def wrappers(client: Any, recorder: HttpRecorder) -> Iterator[tuple[type, str, Callable[[Any], Any]]]:
    """Yield class, method and wrapper. A request with all its redirects is one exchange."""
    yield client.ClientSession, "_request", partial(_request, recorder)


def _request(recorder: HttpRecorder, send: Any) -> Any:
    @wraps(send)
    async def request(self: Any, method: str, str_or_url: Any, **kwargs: Any) -> Any:
        url = self._build_url(str_or_url)
        if not recorder.handles(str(url)):
            return await send(self, method, str_or_url, **kwargs)
        if kwargs.get("params"):
            url = url.extend_query(kwargs["params"])
        headers = self._prepare_headers(kwargs.get("headers"))
        content, kind = await _content(self, kwargs)
        if kind and "content-type" not in headers:
            headers["Content-Type"] = kind
        exchange = recorder.exchange(HttpRequest(method.upper(), str(url), content, headers.get("content-type", "")))
        for seconds in exchange.waits():
            await asyncio.sleep(seconds)
        if exchange.reply is not None:
            return await _check_status(self, _replay(self, method, url, headers, exchange.reply), kwargs)
        if (accepted := headers.get("accept-encoding")) != readable_encodings(accepted):
            headers["Accept-Encoding"] = readable_encodings(accepted)
        kwargs["headers"] = headers
        with exchange:
            response = await send(self, method, str_or_url, **{**kwargs, "raise_for_status": False})
            unpacks = self._auto_decompress if kwargs.get("auto_decompress") is None else kwargs["auto_decompress"]
            plain = {name: value for name, value in response.headers.items() if name.lower() != "content-encoding"}
            if exchange.is_stream(response.status, plain if unpacks else response.headers):
                exchange.stream()
                _pass_on(response, exchange)
            else:
                body = await response.read()
                exchange.end(body)
                response.content, response._body = _reader((body,)), None
        return await _check_status(self, response, kwargs)

    return request


async def _content(session: Any, kwargs: dict[str, Any]) -> tuple[bytes, str]:
    """Return the body of a request and its media type; replace a body that can be read only once by bytes."""
    data = kwargs.get("data")
    if kwargs.get("json") is not None:
        return session._json_serialize(kwargs["json"]).encode(), "application/json"
    if data is None:
        return b"", ""
    if isinstance(data, str):
        return data.encode(), "text/plain; charset=utf-8"
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data), "application/octet-stream"
    if isinstance(data, Mapping):
        return urlencode(list(data.items())).encode(), "application/x-www-form-urlencoded"
    kind = ""
    if callable(data):  # a form
        data = data()
    if hasattr(data, "as_bytes"):
        kind = data.headers.get("Content-Type", "")
        content = await data.as_bytes()
    elif hasattr(data, "__aiter__"):
        content = b"".join([piece async for piece in data])
    elif hasattr(data, "read"):
        content = data.read()
    else:
        content = b"".join(data)
    kwargs["data"] = content = content.encode() if isinstance(content, str) else content
    return content, kind


async def _check_status(session: Any, response: Any, kwargs: Mapping[str, Any]) -> Any:
    """Return a response; raise for an error status if the caller asked for that."""
    check = kwargs.get("raise_for_status")
    check = session._raise_for_status if check is None else check
    if callable(check):
        await check(response)
    elif check:
        response.raise_for_status()
    return response


def _pass_on(response: Any, exchange: Exchange) -> None:
    """Read a response in a task that passes each chunk to the exchange and to the client."""
    source, reader = response.content, _reader(None)

    async def pump() -> None:
        try:
            while piece := await source.readany():
                reader.feed_data(exchange.feed(piece))
        except BaseException as error:
            if response.closed:
                exchange.end_stream(ended=False)
            else:
                exchange.fail_stream()
            if not isinstance(error, Exception):
                reader.set_exception(ConnectionError("the request was cancelled"))
                raise
            reader.set_exception(error)
            return
        exchange.end_stream(ended=True)
        reader.feed_eof()

    response.content = reader
    task = asyncio.get_running_loop().create_task(pump())
    _pump_tasks.add(task)
    task.add_done_callback(_pump_tasks.discard)


def _reader(pieces: tuple[bytes, ...] | None) -> Any:
    """Return a stream reader with all pieces and its end, or an open one without data if ``pieces`` is None."""
    from aiohttp.base_protocol import BaseProtocol
    from aiohttp.streams import StreamReader

    loop = asyncio.get_running_loop()
    protocol = type(
        "Fed", (BaseProtocol,), {"connected": True}
    )  # without a socket; "connected" lets the reader wait for data
    reader = StreamReader(protocol(loop), LIMIT, loop=loop)
    if pieces is not None:
        for piece in pieces:
            reader.feed_data(piece)
        reader.feed_eof()
    return reader


def _replay(session: Any, method: str, url: Any, headers: Any, reply: HttpReply) -> Any:
    from aiohttp import ClientResponse, RequestInfo
    from multidict import CIMultiDict, CIMultiDictProxy

    loop = asyncio.get_running_loop()
    arguments = {
        "writer": None,
        "continue100": None,
        "timer": None,
        "request_info": RequestInfo(url, method, CIMultiDictProxy(CIMultiDict(headers)), url),
        "traces": [],
        "loop": loop,
        "session": session,
        "stream_writer": SimpleNamespace(output_size=0),
    }
    known = inspect.signature(ClientResponse.__init__).parameters
    response = ClientResponse(method, url, **{name: value for name, value in arguments.items() if name in known})
    response.status, response.reason = reply.status, _reason(reply.status)
    response._headers = CIMultiDictProxy(CIMultiDict(reply.headers))
    response._raw_headers = tuple((name.encode(), value.encode()) for name, value in reply.headers.items())
    response.content = _reader(reply.chunks)
    return response


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
