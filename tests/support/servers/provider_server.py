"""A real HTTP server on the loopback that speaks several providers' protocols, with streams in pieces.

    with ProviderServer(say="It opens at 9:00.") as server:
        ...  # ask server.base_url

``POST /v1/chat/completions``, ``/v1/responses``, ``/v1/embeddings`` (OpenAI), ``/v1/messages`` (Anthropic),
``GET /pages/...``, ``POST /upload`` and ``POST /oauth/token``. Tokens are words.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

__all__ = ["ProviderServer"]

Body = dict[str, Any]
Event = tuple[str, Body | str]
"""The name of a server-sent event, "" for none, and its data."""


@dataclass
class ProviderServer:
    """Serves from the start of a ``with`` block to its end.

    Attributes:
        say: its reply, or a function of the request's body.
        delay_s: seconds between two events of a stream.
        hold_s: seconds before each reply.
        cut: a stream stops after this many events, without its final one.
        status: of each reply; any but 200 is an error.
        issues: the access token of ``/oauth/token``.
        compresses: whether it compresses with gzip if the client accepts that.
        requests: path, headers (names in lower case) and body of each request.
        base_url: its address, with ``/v1``.
    """

    say: str | Callable[[Body], str] = "It opens at 9:00."
    delay_s: float = 0.0
    hold_s: float = 0.0
    cut: int | None = None
    status: int = 200
    issues: str = ""
    compresses: bool = False
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    base_url: str = ""

    def __enter__(self) -> ProviderServer:
        outer = self

        class Handler(_Handler):
            server_of = outer

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def root(self) -> str:
        """Its address without ``/v1``."""
        return self.base_url.removesuffix("/v1")

    def text(self, body: Body) -> str:
        """Return the text of the reply to a request."""
        return self.say(body) if callable(self.say) else self.say


class _Server(ThreadingHTTPServer):
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: ProviderServer

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self._take()
        if self.path.startswith("/pages/none"):
            self._send(404, b"no such page", "text/plain")
        else:
            self._send(200, f"page {self.path}".encode(), "text/plain")

    def do_POST(self) -> None:
        content = self._take()
        server, path = self.server_of, self.path.partition("?")[0]
        time.sleep(server.hold_s)
        if server.status != 200:
            error = {"error": {"message": "failed on plan", "type": "error"}}
            self._send(server.status, json.dumps(error).encode())
            return
        if path == "/oauth/token":
            self._json({"access_token": server.issues, "expires_in": 60})
            return
        if path == "/upload":
            self._send(200, json.dumps({"bytes": len(content)}).encode())
            return
        body: Body = json.loads(content)
        text = server.text(body)
        if path == "/v1/embeddings":
            self._json(_embeddings(body))
        elif body.get("stream"):
            events = {"/v1/chat/completions": _chat_events, "/v1/messages": _anthropic_events}
            self._stream(list(events.get(path, _responses_events)(body, text)))
        else:
            replies = {"/v1/chat/completions": _chat, "/v1/messages": _anthropic}
            self._json(replies.get(path, _responses)(body, text))

    def _take(self) -> bytes:
        length = int(self.headers.get("content-length") or 0)
        content = self.rfile.read(length)
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server_of.requests.append((self.path, headers, content))
        return content

    def _json(self, body: Body) -> None:
        self._send(200, json.dumps(body).encode())

    def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        if self.server_of.compresses and "gzip" in self.headers.get("accept-encoding", ""):
            data = gzip.compress(data)
            self.send_header("content-encoding", "gzip")
        self.send_header("content-type", kind)
        self.send_header("x-request-id", f"req_{len(self.server_of.requests)}")
        self.send_header("set-cookie", "session=geheim")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: list[Event]) -> None:
        server = self.server_of
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, (name, data) in enumerate(events):
            if number == server.cut:
                self.close_connection = True
                return
            if number:
                time.sleep(server.delay_s)
            text = f"event: {name}\n" * bool(name) + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
            self._chunk(text.encode())
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        try:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        except OSError:  # the client has closed the connection
            self.close_connection = True


def _words(value: Any) -> int:
    """Return the number of words in a part of a request."""
    if isinstance(value, str):
        return len(value.split())
    if isinstance(value, dict):
        return sum(_words(item) for name, item in value.items() if name in ("content", "text"))
    return sum(_words(item) for item in value) if isinstance(value, list) else 0


def _pieces(text: str) -> list[str]:
    return [piece + " " for piece in text.split()[:-1]] + text.split()[-1:]


def _chat(body: Body, text: str) -> Body:
    sent, got = _words(body["messages"]), _words(text)
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got},
    }


def _chat_events(body: Body, text: str) -> Iterator[Event]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    for piece in _pieces(text):
        yield "", {**head, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield "", {**head, "choices": [], "usage": _chat(body, text)["usage"]}
    yield "", "[DONE]"


def _responses(body: Body, text: str) -> Body:
    sent, got = _words(body["input"]), _words(text)
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    usage = {
        "input_tokens": sent,
        "output_tokens": got,
        "total_tokens": sent + got,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    head = {"id": "resp_1", "object": "response", "created_at": 0, "model": body["model"], "status": "completed"}
    return {
        **head,
        "output": [message],
        "usage": usage,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _responses_events(body: Body, text: str) -> Iterator[Event]:
    whole = _responses(body, text)
    started = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"type": "response.created", "sequence_number": 0, "response": started}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": []}
    for number, piece in enumerate(_pieces(text), 1):
        kind = "response.output_text.delta"
        yield kind, {"type": kind, "sequence_number": number, "delta": piece, **place}
    yield "response.completed", {"type": "response.completed", "sequence_number": 99, "response": whole}


def _anthropic(body: Body, text: str) -> Body:
    usage = {"input_tokens": _words(body["messages"]), "output_tokens": _words(text), "cache_read_input_tokens": 4}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
    content = [{"type": "text", "text": text}]
    return {**head, "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}


def _anthropic_events(body: Body, text: str) -> Iterator[Event]:
    whole = _anthropic(body, text)
    first_message = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": first_message}
    block = {"type": "text", "text": ""}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    for piece in _pieces(text):
        delta = {"type": "text_delta", "text": piece}
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    usage = {"output_tokens": whole["usage"]["output_tokens"]}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": end, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def _embeddings(body: Body) -> Body:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    rows = [{"object": "embedding", "index": at, "embedding": [1.0, float(len(text))]} for at, text in enumerate(texts)]
    words = _words(texts)
    return {
        "object": "list",
        "model": body["model"],
        "data": rows,
        "usage": {"prompt_tokens": words, "total_tokens": words},
    }
