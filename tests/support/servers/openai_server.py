"""A real HTTP server on the loopback that speaks the OpenAI protocol, counts, delays and fails on plan.

    with OpenAIServer(reply="Paris", delay_s=0.05, plan=shares({"429": 0.05})) as server:
        ...  # ask server.base_url

    python tests/support/servers/openai_server.py --delay 0.05 --plan 429=0.05,reset=0.01

The second form is a process of its own, so that a benchmark does not share an interpreter with it: its first line is
the base URL, ``/stats`` at the same address returns its counts, and it ends when its standard input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import struct
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from support.servers.loopback_server import LoopbackServer
from support.servers.openai_replies import completion, embedding, embeddings, error, last_user, texts_of

__all__ = ["Fault", "OpenAIServer", "ReceivedRequest", "embedding", "shares"]

Body = dict[str, Any]
KINDS = (
    "status",
    "context_length",
    "content_filter",
    "reset",
    "hang",
    "truncated_body",
    "malformed",
    "empty_choices",
    "raw",
)
PATHS = ("/v1/chat/completions", "/v1/embeddings", "/api/chat")
CODES = {
    "context_length": ("context_length_exceeded", "This model's maximum context length is 8 tokens."),
    "content_filter": ("content_filter", "The response was filtered due to the prompt triggering a content policy."),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """How a request fails.

    Attributes:
        kind: "status" (an error of that status), "context_length" or "content_filter" (OpenAI's 400 of that code),
            "reset" (closed without a reply), "hang" (no reply until the client closes), "truncated_body" (closed in the
            middle of the reply), "malformed" (200, not JSON), "empty_choices" (200, no choice), "raw" (``raw`` as it
            is, then closed).
        status: of kind "status".
        retry_after: the value of the header Retry-After; None leaves it out.
        message: the message of the error, if its kind has one.
        raw: the bytes of kind "raw", status line included.
    """

    kind: str
    status: int = 500
    retry_after: str | float | None = None
    message: str = "failed on plan"
    raw: bytes = b""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind of fault {self.kind!r}; known: {', '.join(KINDS)}")


Plan = Callable[[int, Body], Fault | None]


def shares(parts: Mapping[str, float], *, retry_after: str | float | None = None, seed: int = 0) -> Plan:
    """Return a plan that fails these shares of the requests, drawn by the number of the request.

    Keys are kinds of faults, or statuses ("429"); values are in ``0..1`` and sum up to at most 1.
    """
    faults = {
        name: Fault("status", int(name), retry_after if name == "429" else None) if name.isdigit() else Fault(name)
        for name in parts
    }

    def plan(number: int, body: Body) -> Fault | None:
        remainder = random.Random(f"{seed}-{number}").random()
        for name, share in parts.items():
            remainder -= share
            if remainder < 0:
                return faults[name]
        return None

    return plan


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A received request: its path, its headers (names in lower case) and its JSON."""

    path: str
    headers: Mapping[str, str]
    body: Body


@dataclass
class OpenAIServer(LoopbackServer):
    """``POST /v1/chat/completions`` and ``POST /v1/embeddings``, on a thread with an event loop of its own.

    ``POST /api/chat``, Ollama's address, is answered with what ``reply`` returns.

    Attributes:
        reply: a text, or a function that returns a text or the whole JSON of the reply for the body of a request; by
            default the last user message.
        vectors: the vectors of some texts; by default the `embedding` of each.
        delay_s: seconds before each reply or fault, or a function of the request's number and body.
        plan: which request fails and how; requests are counted from 1 in the order of their arrival.
        requests: the received requests, in that order.
        in_flight: how many wait for their reply now.
        peak: the most there were at once.
        statuses: how many replies of each status ("200", "429") and how many faults without one ("reset", "hang",
            "truncated_body").
    """

    reply: str | Callable[[Body], str | Mapping[str, Any]] | None = None
    vectors: Callable[[Sequence[str]], Sequence[Sequence[float]]] | None = None
    delay_s: float | Callable[[int, Body], float] = 0.0
    plan: Plan | None = None
    requests: list[ReceivedRequest] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def stats(self) -> dict[str, Any]:
        """What ``GET /stats`` returns: the number of requests, the peak and the statuses."""
        return {"requests": len(self.requests), "peak": self.peak, "statuses": dict(self.statuses)}

    async def listen(self) -> asyncio.Server:
        self._connections: set[_Connection] = set()
        return await asyncio.get_running_loop().create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=1024)

    async def hang_up(self) -> None:
        for connection in tuple(self._connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # lets the connections be lost

    def accepts(self, path: str) -> bool:
        """Return whether the server answers requests to ``path``."""
        return path in PATHS

    def answer(self, path: str, body: Body) -> Mapping[str, Any]:
        """Return the JSON that answers ``body``."""
        if path.endswith("/embeddings"):
            texts = texts_of(body)
            return embeddings(body, self.vectors(texts) if self.vectors else [embedding(text) for text in texts])
        text = self.reply(body) if callable(self.reply) else self.reply
        if isinstance(text, Mapping):
            return text
        return completion(body, last_user(body) if text is None else text)


class _Connection(asyncio.Protocol):
    """One keep-alive connection, with one request after the other."""

    def __init__(self, server: OpenAIServer) -> None:
        self.server = server
        self.buffer = b""
        self.waiting = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.server._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server._connections.discard(self)
        self.server.in_flight -= self.waiting
        self.waiting = 0

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            line, *rest = self.buffer[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (header.partition(":") for header in rest)}
            stop = end + 4 + int(headers.get("content-length", 0))
            if len(self.buffer) < stop:
                return
            content, self.buffer = self.buffer[end + 4 : stop], self.buffer[stop:]
            method, path = line.split()[:2]
            self.handle(method, path, headers, content)

    def handle(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> None:
        if method == "GET" and path == "/stats":
            self.write(200, self.server.stats)
        elif method != "POST" or not self.server.accepts(path):
            self.write(404, error(f"no such path: {method} {path}", None))
        else:
            self.schedule(ReceivedRequest(path, headers, json.loads(content)))

    def schedule(self, request: ReceivedRequest) -> None:
        server = self.server
        server.requests.append(request)
        number = len(server.requests)
        server.in_flight += 1
        self.waiting += 1
        server.peak = max(server.peak, server.in_flight)
        fault = server.plan(number, request.body) if server.plan else None
        delay = server.delay_s(number, request.body) if callable(server.delay_s) else server.delay_s
        if delay:
            asyncio.get_running_loop().call_later(delay, self.finish, request, fault)
        else:
            self.finish(request, fault)

    def finish(self, request: ReceivedRequest, fault: Fault | None) -> None:
        if self.transport.is_closing():
            return
        if fault and fault.kind == "hang":
            self.server.statuses["hang"] += 1
            return
        self.waiting -= 1
        self.server.in_flight -= 1
        if fault:
            self.fail(fault)
        else:
            self.server.statuses["200"] += 1
            self.write(200, self.server.answer(request.path, request.body))

    def fail(self, fault: Fault) -> None:
        status = {"status": fault.status, "context_length": 400, "content_filter": 400}.get(fault.kind, 200)
        closes = fault.kind in ("reset", "truncated_body")
        self.server.statuses[fault.kind if closes else str(status)] += 1
        if fault.kind == "reset":
            connected: socket.socket = self.transport.get_extra_info("socket")
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        elif fault.kind == "truncated_body":
            self.transport.write(
                _head(200, 1000) + b'{"id": "cut", "choices": [{"index": 0, "message": {"content": "It'
            )
            self.transport.close()
        elif fault.kind == "raw":
            self.transport.write(fault.raw)
            self.transport.close()
        elif fault.kind == "malformed":
            self.write(200, b'{"id": "broken", "choices": [')
        elif fault.kind == "empty_choices":
            self.write(200, {**completion({}, ""), "choices": []})
        else:
            extra = "" if fault.retry_after is None else f"retry-after: {fault.retry_after}\r\n"
            self.write(status, _fault_body(fault), extra)

    def write(self, status: int, content: Mapping[str, Any] | bytes, extra: str = "") -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.transport.write(_head(status, len(data), extra) + data)


def _head(status: int, length: int, extra: str = "") -> bytes:
    return f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{extra}content-length: {length}\r\n\r\n".encode()


def _fault_body(fault: Fault) -> Body:
    code, message = CODES.get(fault.kind, (None, fault.message))
    return error(message, code)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the OpenAI protocol on the loopback until standard input ends.")
    parser.add_argument("--reply", help="the text of each reply (default: the last user message)")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each reply (default: %(default)s)")
    parser.add_argument("--plan", default="", help="shares of faults, e.g. 429=0.05,reset=0.01")
    parser.add_argument("--retry-after", help="the header Retry-After of each 429")
    parser.add_argument("--seed", type=int, default=0, help="of the plan (default: %(default)s)")
    args = parser.parse_args()
    parts = {name: float(share) for name, _, share in (part.partition("=") for part in args.plan.split(",") if part)}
    plan = shares(parts, retry_after=args.retry_after, seed=args.seed) if parts else None
    with OpenAIServer(args.reply, delay_s=args.delay, plan=plan) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
