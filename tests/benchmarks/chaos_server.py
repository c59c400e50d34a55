"""A local server with the OpenAI protocol; it fails in the way that a question names, of 54."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import struct
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.servers.loopback_server import LoopbackServer
from support.servers.openai_replies import completion, error, last_user

__all__ = ["FAULTS", "MAX_REPLY_BYTES", "ChaosServer"]

MAX_REPLY_BYTES = 4_000_000  # largest reply that the project reads
LATER_S = 0.5  # delay of an error status: by design, a 401 as the very first reply stops the session
APPROVAL = '{"reason": "it is right", "label": "right"}'
_QUESTION = re.compile(r"(?:fault|case) (\S+)")

Send = asyncio.StreamWriter
Fault = Callable[[Send], Awaitable[None]]


def _head(status: int | str, length: int | None, *headers: str) -> bytes:
    sized = () if length is None else (f"Content-Length: {length}",)
    lines = (f"HTTP/1.1 {status} X", "Content-Type: application/json", "Connection: close", *sized, *headers)
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"


def _raw(data: bytes) -> Fault:
    async def send(writer: Send) -> None:
        writer.write(data)
        await writer.drain()

    return send


def _reset(data: bytes) -> Fault:
    async def send(writer: Send) -> None:
        writer.write(data)
        await writer.drain()
        connected: socket.socket = writer.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return send


def _hang(data: bytes) -> Fault:
    async def send(writer: Send) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(60)

    return send


def _drip(data: bytes) -> Fault:
    async def send(writer: Send) -> None:
        for at in range(len(data)):
            writer.write(data[at : at + 1])
            await writer.drain()
            await asyncio.sleep(0.1)

    return send


def _status(status: int, *headers: str) -> Fault:
    body = json.dumps(error("failed on plan", None)).encode()

    async def send(writer: Send) -> None:
        await asyncio.sleep(LATER_S)
        await _raw(_head(status, len(body), *headers) + body)(writer)

    return send


def _redirect(to: str) -> Fault:
    return _raw(_head(307, 0, f"Location: {to}"))


def _body(data: bytes, *headers: str) -> Fault:
    return _raw(_head(200, len(data), *headers) + data)


def _message(message: object, reason: object = "stop", **more: object) -> Fault:
    reply = completion({}, "")
    reply["choices"] = [{"index": 0, "message": message, "finish_reason": reason}]
    return _body(json.dumps({**reply, **more}).encode())


def _text(content: object, **more: object) -> Fault:
    return _message({"role": "assistant", "content": content}, **more)


WHOLE = json.dumps(completion({}, "Paris")).encode()
CLOSED = "http://127.0.0.1:9/v1/chat/completions"
TLS_ALERT = b"\x15\x03\x03\x00\x02\x02\x28"
BOMB = gzip.compress(b" " * 200_000_000, 9)

FAULTS: Mapping[str, Fault] = {
    "refused": _redirect(CLOSED),
    "no-such-host": _redirect("http://no-such-host.invalid/v1"),
    "reset": _reset(b""),
    "reset-in-head": _reset(_head(200, 100)[:20]),
    "reset-in-body": _reset(_head(200, len(WHOLE)) + WHOLE[:30]),
    "closed": _raw(b""),
    "closed-in-head": _raw(_head(200, 100)[:20]),
    "closed-in-body": _raw(_head(200, len(WHOLE)) + WHOLE[:30]),
    "closed-in-chunk": _raw(_head(200, None, "Transfer-Encoding: chunked") + b"40\r\n{"),
    "hang": _hang(b""),
    "hang-in-head": _hang(_head(200, 100)[:20]),
    "hang-in-body": _hang(_head(200, len(WHOLE)) + WHOLE[:30]),
    "slow-drip": _drip(_head(200, len(WHOLE)) + WHOLE),
    **{
        f"status-{status}": _status(status)
        for status in (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529)
    },
    "retry-after-a-day": _status(429, "Retry-After: 86400"),
    "no-content": _raw(_head(204, None)),
    "redirect-loop": _redirect("/v1/chat/completions"),
    "redirect-to-ftp": _redirect("ftp://127.0.0.1/v1"),
    "tls-on-plain-port": _redirect("https://127.0.0.1:{port}/v1/chat/completions"),
    "tls-alert": _raw(TLS_ALERT),
    "another-protocol": _raw(b"SSH-2.0-OpenSSH_9.0\r\n"),
    "huge-header": _raw(_head(200, 2, "X: " + "a" * 100_000) + b"{}"),
    "many-headers": _raw(_head(200, 2, *(f"X{n}: a" for n in range(5_000))) + b"{}"),
    "length-too-small": _raw(_head(200, 20) + WHOLE),
    "length-too-large": _raw(_head(200, len(WHOLE) + 500) + WHOLE),
    "length-not-a-number": _raw(_head(200, None, "Content-Length: many") + WHOLE),
    "bad-chunk": _raw(_head(200, None, "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n"),
    "not-gzip": _body(WHOLE, "Content-Encoding: gzip"),
    "gzip-bomb": _body(BOMB, "Content-Encoding: gzip"),
    "too-large": _body(b" " * (MAX_REPLY_BYTES + 1)),
    "empty-body": _body(b""),
    "web-page": _body(b"<html><body>502 Bad Gateway</body></html>"),
    "cut-json": _body(WHOLE[:60]),
    "not-utf-8": _body(WHOLE.replace(b"Paris", b"Par\xffs")),
    "deep-json": _body(b"[" * 100_000),
    "event-stream": _body(b"data: " + WHOLE + b"\n\ndata: [DONE]\n\n", "X-Type: text/event-stream"),
    "no-choices": _body(b'{"id": "x"}'),
    "empty-choices": _body(json.dumps({**completion({}, ""), "choices": []}).encode()),
    "null-message": _message(None),
    "null-content": _text(None),
    "cut-off": _message({"role": "assistant", "content": None}, "length"),
}

assert len(FAULTS) == 54, len(FAULTS)


class ChaosServer(LoopbackServer):
    """Answers "Paris", or with a fault if the question says ``fault NAME``; the model "judge" approves.

    Attributes:
        asked: number of requests by the word after "case" or "fault" in the question.
        delay_s: seconds before each reply.
    """

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.delay_s = 0.0

    async def listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", 0)

    async def hang_up(self) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client disconnected
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        body = json.loads(await reader.readexactly(int(length[1]))) if length else {}
        match = _QUESTION.search(last_user(body)) if body else None
        name = match[1] if match else ""
        self.asked[name] += 1
        if name in FAULTS:
            await FAULTS[name](_Filled(writer, self.port))  # type: ignore[arg-type]
            return
        await asyncio.sleep(self.delay_s)
        text = APPROVAL if body.get("model") == "judge" else "Paris"
        reply = json.dumps(completion(body, text)).encode()
        writer.write(_head(200, len(reply)) + reply)
        await writer.drain()


class _Filled:
    """A writer that knows the server's port."""

    def __init__(self, writer: asyncio.StreamWriter, port: int) -> None:
        self._writer, self._port = writer, port

    def write(self, data: bytes) -> None:
        self._writer.write(data.replace(b"{port}", str(self._port).encode()))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)
