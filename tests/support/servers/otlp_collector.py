"""A collector on the loopback: receives OTLP over HTTP, and writes it like a collector's file exporter."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

__all__ = ["OtlpCollector"]

REQUESTS: dict[str, Any] = {"/v1/traces": ExportTraceServiceRequest, "/v1/logs": ExportLogsServiceRequest}


class OtlpCollector:
    """Receives spans and log records; each request is one line of ``path``, with ids in base64 as protobuf writes them.

    Attributes:
        url: its address.
        path: the file of received requests.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        lock = Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = REQUESTS[self.path]()
                request.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
                with lock, path.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(MessageToDict(request)) + "\n")
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of the standard library
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> OtlpCollector:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def lines(self) -> list[dict[str, Any]]:
        """Return the received requests, one value each."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
