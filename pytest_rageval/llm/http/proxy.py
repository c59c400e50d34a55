"""A server on the loopback that records the calls of systems in other processes and languages."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.llm.client.running_cases import running_cases
from pytest_rageval.llm.client.session_calls import session_call
from pytest_rageval.llm.client.usage_meter import SCOPE, RefusedCallError
from pytest_rageval.llm.http.exchange import Exchange
from pytest_rageval.llm.http.exchange_values import Call, Reply
from pytest_rageval.llm.http.recorder import Recorder

__all__ = ["Proxy"]

PATH = "/v1"
_OF_THE_CONNECTION = frozenset({
    "accept-encoding", "connection", "content-length", "host", "keep-alive", "proxy-authorization", "te", "trailer",
    "transfer-encoding", "upgrade",
})  # fmt: skip
_REFUSED, _NO_ROUTE = 400, 502


class Proxy:
    """Passes the requests of other processes on to an OpenAI-compatible server, recorded like this process's own.

    A call belongs to the case that runs. If several run, it belongs to none of them and only counts in the session's
    sum.

    Args:
        recorder: records, meters and bounds the requests.
        upstream: the address to pass requests on to, such as ``https://api.openai.com/v1``.

    Attributes:
        address: its own address while it runs.
        shared: how many calls came while several cases ran.
    """

    def __init__(self, recorder: Recorder, upstream: str) -> None:
        self.recorder = recorder
        self.upstream = upstream.rstrip("/")
        self.address = ""
        self.shared = 0
        self._client: Any = None

    def start(self) -> None:
        """Start the server on a free port."""
        try:
            self._client = import_module("httpx").Client(timeout=None)  # the caller has a timeout of its own
        except ModuleNotFoundError:
            raise MissingDependencyError("rag_proxy", "llm") from None
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="rageval-proxy", daemon=True
        )
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_port}{PATH}"
        self.recorder.leave_out(self.address)

    def stop(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._client.close()

    def exchange(self, call: Call) -> Exchange:
        """Start a request for the running case."""
        cases = running_cases()
        self.shared += len(cases) > 1
        host = urlsplit(self.upstream).hostname or ""
        case = cases[0] if len(cases) == 1 else None
        SCOPE.set(None if case is None else case[0])  # recordings ask whether the case is recorded anew
        return self.recorder.exchange_for(case, call, host)

    def send(self, call: Call, headers: Mapping[str, str]) -> Any:
        """Return the upstream's response, opened by a ``with`` block."""
        return self._client.stream(call.method, call.url, content=call.body, headers=dict(headers))


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing if a client goes away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _pass_on(self) -> None:
        proxy, body = self.server.proxy, self._body()
        address = proxy.upstream + self.path.removeprefix(PATH)
        call = Call(self.command, address, body, self.headers.get("content-type", ""))
        exchange = proxy.exchange(call)
        try:
            for seconds in exchange.waits():
                time.sleep(seconds)
        except RefusedCallError as refusal:
            self._error(_REFUSED, str(refusal))
            return
        if exchange.reply is not None:
            self._replay(exchange.reply)
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OF_THE_CONNECTION}
        try:
            with session_call(), exchange, proxy.send(call, {**headers, "accept-encoding": "identity"}) as response:
                self._forward(response, exchange)
        except OSError:  # the client has gone
            self.close_connection = True
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "httpx":
                raise
            self._error(_NO_ROUTE, f"{urlsplit(address).netloc} gave no reply ({type(error).__name__}: {error})")

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = _pass_on  # noqa: N815 - the names of http.server

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        content = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def _forward(self, response: Any, exchange: Exchange) -> None:
        headers = {name: value for name, value in response.headers.items() if name not in _OF_THE_CONNECTION}
        if not exchange.is_stream(response.status_code, response.headers):
            body = b"".join(response.iter_raw())
            exchange.end(body)
            self._whole(response.status_code, headers, body)
            return
        exchange.stream()
        self._head(response.status_code, {**headers, "transfer-encoding": "chunked"})
        for chunk in response.iter_raw():
            self._chunk(exchange.feed(chunk))
        exchange.end_stream(ended=True)
        self._chunk(b"")

    def _replay(self, reply: Reply) -> None:
        if len(reply.chunks) < 2:
            self._whole(reply.status, reply.headers, reply.body)
            return
        self._head(reply.status, {**reply.headers, "transfer-encoding": "chunked"})
        for chunk in (*reply.chunks, b""):
            self._chunk(chunk)

    def _error(self, status: int, message: str) -> None:
        body = {"error": {"message": message, "type": "rageval", "param": None, "code": None}}
        self._whole(status, {"content-type": "application/json"}, json.dumps(body).encode())

    def _whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self._head(status, {**headers, "content-length": str(len(body))})
        self.wfile.write(body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
