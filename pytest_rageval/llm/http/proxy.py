"""A local proxy that records the model calls of systems in other processes and languages."""

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
from pytest_rageval.llm.http.http_messages import HttpReply, HttpRequest
from pytest_rageval.llm.http.http_recorder import HttpRecorder

__all__ = ["Proxy"]

PATH = "/v1"
_CONNECTION_HEADERS = frozenset({
    "accept-encoding", "connection", "content-length", "host", "keep-alive", "proxy-authorization", "te", "trailer",
    "transfer-encoding", "upgrade",
})  # fmt: skip
_REFUSED, _NO_ROUTE = 400, 502


class Proxy:
    """Passes requests of other processes on to an OpenAI-compatible server, and records them like this process's.

    A call belongs to the case that runs. If several cases run, it belongs to none of them, and counts only in the
    session's total.

    Args:
        recorder: records, charges and limits the requests.
        upstream: the address of the server, such as ``https://api.openai.com/v1``.

    Attributes:
        address: the address of the proxy while it runs.
        shared: the number of calls that came while several cases ran.
    """

    def __init__(self, recorder: HttpRecorder, upstream: str) -> None:
        self.recorder = recorder
        self.upstream = upstream.rstrip("/")
        self.address = ""
        self.shared = 0
        self._client: Any = None

    def start(self) -> None:
        """Start the server on a free port."""
        try:
            self._client = import_module("httpx").Client(timeout=None)  # the calling process has its own timeout
        except ModuleNotFoundError:
            raise MissingDependencyError("rag_proxy", "llm") from None
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="rageval-proxy", daemon=True
        )
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_port}{PATH}"
        self.recorder.ignore_address(self.address)

    def stop(self) -> None:
        """Stop the server and close its connections."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._client.close()

    def exchange(self, request: HttpRequest) -> Exchange:
        """Return the exchange of a request, which belongs to the running case if there is only one."""
        cases = running_cases()
        self.shared += len(cases) > 1
        host = urlsplit(self.upstream).hostname or ""
        case = cases[0] if len(cases) == 1 else None
        SCOPE.set(None if case is None else case[0])  # recordings check whether this case is recorded again
        return self.recorder.exchange_for(case, request, host)

    def send(self, request: HttpRequest, headers: Mapping[str, str]) -> Any:
        """Send a request to the server; return a context manager that opens its response."""
        return self._client.stream(request.method, request.url, content=request.body, headers=dict(headers))


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing if a client disconnects."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _pass_on(self) -> None:
        proxy, body = self.server.proxy, self._body()
        address = proxy.upstream + self.path.removeprefix(PATH)
        request = HttpRequest(self.command, address, body, self.headers.get("content-type", ""))
        exchange = proxy.exchange(request)
        try:
            for seconds in exchange.waits():
                time.sleep(seconds)
        except RefusedCallError as refusal:
            self._send_error(_REFUSED, str(refusal))
            return
        if exchange.reply is not None:
            self._replay(exchange.reply)
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _CONNECTION_HEADERS}
        try:
            with (
                session_call(),
                exchange,
                proxy.send(request, {**headers, "accept-encoding": "identity"}) as response,
            ):
                self._forward(response, exchange)
        except OSError:  # the client has disconnected
            self.close_connection = True
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "httpx":
                raise
            self._send_error(_NO_ROUTE, f"{urlsplit(address).netloc} gave no reply ({type(error).__name__}: {error})")

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
        headers = {name: value for name, value in response.headers.items() if name not in _CONNECTION_HEADERS}
        if not exchange.is_stream(response.status_code, response.headers):
            body = b"".join(response.iter_raw())
            exchange.end(body)
            self._send_reply(response.status_code, headers, body)
            return
        exchange.stream()
        self._send_head(response.status_code, {**headers, "transfer-encoding": "chunked"})
        for chunk in response.iter_raw():
            self._send_chunk(exchange.feed(chunk))
        exchange.end_stream(ended=True)
        self._send_chunk(b"")

    def _replay(self, reply: HttpReply) -> None:
        if len(reply.chunks) < 2:
            self._send_reply(reply.status, reply.headers, reply.body)
            return
        self._send_head(reply.status, {**reply.headers, "transfer-encoding": "chunked"})
        for chunk in (*reply.chunks, b""):
            self._send_chunk(chunk)

    def _send_error(self, status: int, message: str) -> None:
        body = {"error": {"message": message, "type": "rageval", "param": None, "code": None}}
        self._send_reply(status, {"content-type": "application/json"}, json.dumps(body).encode())

    def _send_reply(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self._send_head(status, {**headers, "content-length": str(len(body))})
        self.wfile.write(body)

    def _send_head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
