"""The built-in HTTP backend: proxies, certificates, encodings, keys, and errors with the status 200."""

from __future__ import annotations

import gzip
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.samples.backend_cases import used
from support.servers.openai_server import Fault, OpenAIServer

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.openai_http import OpenAIHTTP
from pytest_rageval.model.chat import Completion

KEY = "sk-test-0123456789abcdef"
REPLY = b'{"model": "m", "choices": [{"message": {"content": "In Paris."}, "finish_reason": "stop"}]}'


def ask(base_url: str, **params: Any) -> Completion:
    messages = [{"role": "user", "content": "Where is Orsay?"}]
    params = {"api_base": base_url, "api_key": KEY, "timeout": 20, **params}
    return used(OpenAIHTTP, "openai/m", lambda client: client.complete(messages, **params))


def error_of(base_url: str, **params: Any) -> ModelError:
    with pytest.raises(ModelError) as error:
        ask(base_url, **params)
    return error.value


def raw(body: bytes, *headers: str, status: str = "200 OK") -> Fault:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers)
    return Fault("raw", raw="".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body)


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


def test_a_proxy_of_the_environment_is_used(openai_server: OpenAIServer, no_proxy: pytest.MonkeyPatch) -> None:
    no_proxy.setenv("HTTP_PROXY", openai_server.base_url.removesuffix("/v1"))
    error = error_of("http://model.invalid/v1")
    assert error.kind == "not_found"
    assert "POST http://model.invalid/v1/chat/completions" in str(error)


def test_an_exempt_address_is_asked_without_the_proxy(
    openai_server: OpenAIServer, no_proxy: pytest.MonkeyPatch
) -> None:
    no_proxy.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    no_proxy.setenv("NO_PROXY", "127.0.0.1")
    assert ask(openai_server.base_url).text == "Where is Orsay?"


def test_an_unusable_proxy_is_reported(openai_server: OpenAIServer, no_proxy: pytest.MonkeyPatch) -> None:
    no_proxy.setenv("ALL_PROXY", "gopher://127.0.0.1:9")
    error = error_of(openai_server.base_url)
    assert error.kind == "bad_address"
    assert "Unknown scheme for proxy URL" in str(error)


def test_certificates_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    try:
        subprocess.run(["openssl", "req", "-x509", *options, *names], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl to make a certificate with")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(REPLY)))
            self.end_headers()
            self.wfile.write(REPLY)

        def log_message(self, *args: object) -> None: ...

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"https://127.0.0.1:{server.server_port}/v1"
        assert error_of(base).kind == "connection"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert ask(base).text == "In Paris."
        server.shutdown()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    assert error_of(base).kind == "bad_address"


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
def test_a_compressed_reply_is_read_up_to_its_limit(openai_server: OpenAIServer, encoding: str) -> None:
    openai_server.plan = lambda number, body: raw(gzip.compress(REPLY), f"Content-Encoding: {encoding}")
    assert ask(openai_server.base_url, max_reply_bytes=len(REPLY)).text == "In Paris."
    assert error_of(openai_server.base_url, max_reply_bytes=len(REPLY) - 1).kind == "too_large"


def test_an_encoding_that_was_not_requested_is_unreadable_http(openai_server: OpenAIServer) -> None:
    openai_server.plan = lambda number, body: raw(b"x", "Content-Encoding: br")
    error = error_of(openai_server.base_url)
    assert error.kind == "bad_protocol"
    assert "its reply is encoded as br" in str(error)
    assert openai_server.requests[0].headers["accept-encoding"] == "gzip"


def test_a_redirect_is_followed_with_the_same_request(openai_server: OpenAIServer) -> None:
    body_and_headers = (b"no gzip", "Content-Encoding: gzip", "Location: /v1/chat/completions")
    redirect = raw(*body_and_headers, status="307 Temporary Redirect")
    openai_server.plan = lambda number, body: redirect if number == 1 else None
    assert ask(openai_server.base_url).text == "Where is Orsay?"
    assert openai_server.requests[0].body == openai_server.requests[1].body


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"timeout": "soon"}, "could not convert string to float: 'soon'"),
        ({"max_reply_bytes": "many"}, "invalid literal for int"),
        ({"seed": {1, 2}}, "Object of type set is not JSON serializable"),
        ({"extra_headers": {"x-tenant": "two\nlines"}}, "the header 'x-tenant' has characters"),
    ],
    ids=["timeout", "limit", "seed", "header"],
)
def test_a_parameter_that_cannot_be_sent_is_refused_before_sending(
    openai_server: OpenAIServer, params: dict[str, Any], why: str
) -> None:
    error = error_of(openai_server.base_url, **params)
    assert (error.kind, openai_server.requests) == ("bad_request", [])
    assert why in str(error)
    assert "two" not in str(error)


@pytest.mark.parametrize("key", ["sk-with\nnewline", "sk-ключ"])
def test_a_key_that_is_invalid_in_a_header_is_refused_and_not_printed(openai_server: OpenAIServer, key: str) -> None:
    error = error_of(openai_server.base_url, api_key=key)
    assert (error.kind, openai_server.requests) == ("auth", [])
    assert key not in str(error)


def test_a_header_of_the_user_is_masked(openai_server: OpenAIServer) -> None:
    openai_server.plan = lambda number, body: Fault("status", 400, message="no tenant t-0815-secret")
    error = error_of(openai_server.base_url, extra_headers={"x-tenant": "t-0815-secret"})
    assert "(no tenant [masked])" in str(error)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "overloaded", "code": 503}, "server_error"),
        ({"message": "slow down", "code": 429}, "rate_limited"),
        ({"message": "no such voice", "code": "invalid"}, "bad_request"),
        ("no such voice", "bad_request"),
    ],
)
def test_an_error_with_the_status_200_is_an_error(openai_server: OpenAIServer, error: Any, kind: str) -> None:
    openai_server.reply = lambda body: {"error": error}
    raised = error_of(openai_server.base_url)
    assert raised.kind == kind
    assert (error if isinstance(error, str) else error["message"]) in str(raised)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"choices": ["x"]}, "a choice without a message"),
        ({"choices": [{"message": {"content": [{"type": "text"}]}}]}, "a message whose content is no text"),
        ({"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": "many"}}, "token counts that are no"),
    ],
)
def test_a_reply_of_another_shape_is_malformed(openai_server: OpenAIServer, reply: Any, why: str) -> None:
    openai_server.reply = lambda body: reply
    error = error_of(openai_server.base_url)
    assert error.kind == "malformed_response"
    assert why in str(error)
