"""Wrap aiohttp's sessions, which litellm's async calls go through too."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from http import HTTPStatus
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pytest_rageval.llm.http.exchange_values import Call, Reply, negotiable

if TYPE_CHECKING:
    from pytest_rageval.llm.http.exchange import Exchange
    from pytest_rageval.llm.http.recorder import Recorder

__all__ = ["wrappers"]

LIMIT = 2**16
_running: set[asyncio.Task[None]] = set()
"""Tasks that pass streams on; the loop itself holds them only weakly."""


def wrappers(client: Any, recorder: Recorder) -> Iterator[tuple[type, str, Callable[[Any], Any]]]:
    """Yield class, method and wrapper. One request is one exchange, with its redirects."""
    yield client.ClientSession, "_request", partial(_request, recorder)


def _request(recorder: Recorder, send: Any) -> Any:
    @wraps(send)
    async def request(self: Any, method: str, str_or_url: Any, **named: Any) -> Any:
        url = self._build_url(str_or_url)
        if not recorder.takes(str(url)):
            return await send(self, method, str_or_url, **named)
        if named.get("params"):
            url = url.extend_query(named["params"])
        headers = self._prepare_headers(named.get("headers"))
        content, kind = await _content(self, named)
        if kind and "content-type" not in headers:
            headers["Content-Type"] = kind
        exchange = recorder.exchange(Call(method.upper(), str(url), content, headers.get("content-type", "")))
        for seconds in exchange.waits():
            await asyncio.sleep(seconds)
        if exchange.reply is not None:
            return await _checked(self, _replayed(self, method, url, headers, exchange.reply), named)
        if (accepted := headers.get("accept-encoding")) != negotiable(accepted):
            headers["Accept-Encoding"] = negotiable(accepted)
        named["headers"] = headers
        with exchange:
            response = await send(self, method, str_or_url, **{**named, "raise_for_status": False})
            unpacks = self._auto_decompress if named.get("auto_decompress") is None else named["auto_decompress"]
            plain = {name: value for name, value in response.headers.items() if name.lower() != "content-encoding"}
            if exchange.is_stream(response.status, plain if unpacks else response.headers):
                exchange.stream()
                _pass_on(response, exchange)
            else:
                body = await response.read()
                exchange.end(body)
                response.content, response._body = _reader((body,)), None
        return await _checked(self, response, named)

    return request


async def _content(session: Any, named: dict[str, Any]) -> tuple[bytes, str]:
    """Return the content of a request and its type; a body that can be read only once becomes bytes."""
    data = named.get("data")
    if named.get("json") is not None:
        return session._json_serialize(named["json"]).encode(), "application/json"
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
    named["data"] = content = content.encode() if isinstance(content, str) else content
    return content, kind


async def _checked(session: Any, response: Any, named: Mapping[str, Any]) -> Any:
    """Return a response, or raise for its status as the caller asked for."""
    check = named.get("raise_for_status")
    check = session._raise_for_status if check is None else check
    if callable(check):
        await check(response)
    elif check:
        response.raise_for_status()
    return response


def _pass_on(response: Any, exchange: Exchange) -> None:
    """Read a response in a task that passes each piece on."""
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
    _running.add(task)
    task.add_done_callback(_running.discard)


def _reader(pieces: tuple[bytes, ...] | None) -> Any:
    """Return a stream reader: filled and ended, or empty if ``pieces`` is None."""
    from aiohttp.base_protocol import BaseProtocol
    from aiohttp.streams import StreamReader

    loop = asyncio.get_running_loop()
    fed = type("Fed", (BaseProtocol,), {"connected": True})  # by us, so a reader may wait for more
    reader = StreamReader(fed(loop), LIMIT, loop=loop)
    if pieces is not None:
        for piece in pieces:
            reader.feed_data(piece)
        reader.feed_eof()
    return reader


def _replayed(session: Any, method: str, url: Any, headers: Any, reply: Reply) -> Any:
    from aiohttp import ClientResponse, RequestInfo
    from multidict import CIMultiDict, CIMultiDictProxy

    loop = asyncio.get_running_loop()
    given = {
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
    response = ClientResponse(method, url, **{name: value for name, value in given.items() if name in known})
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
