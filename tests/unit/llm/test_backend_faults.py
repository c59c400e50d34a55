"""Faults of providers on a real connection, for the built-in HTTP client and the transports of litellm."""

from __future__ import annotations

import asyncio
import gzip
import socket
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from support.samples.backend_cases import BACKENDS, PLAIN, Backend, each_backend, openai_backends, used
from support.servers.openai_server import Fault, OpenAIServer

from pytest_rageval.errors import ModelError
from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.model.chat import Completion

KEY = "sk-test-0123456789abcdef"
FAULTS = {
    "rate_limited": Fault("status", 429, retry_after=7),
    "server_error-500": Fault("status", 500),
    "server_error-502": Fault("status", 502),
    "server_error-503": Fault("status", 503),
    "bad_request": Fault("status", 400),
    "auth-401": Fault("status", 401, message=f"Incorrect API key provided: {KEY}"),
    "auth-403": Fault("status", 403),
    "not_found": Fault("status", 404),
    "context_length": Fault("context_length"),
    "content_filter": Fault("content_filter"),
    "connection": Fault("reset"),
    "timeout": Fault("hang"),
    "truncated": Fault("truncated_body"),
    "malformed_response": Fault("malformed"),
    "malformed_response-empty": Fault("empty_choices"),
}


def ask(backend: Backend, model: str, base_url: str | None, **params: object) -> Completion:
    """Ask once, on a separate event loop, and close the backend."""
    messages = [{"role": "user", "content": "ping"}]
    params = {"api_base": base_url, "api_key": KEY, **params}
    return used(backend, model, lambda client: client.complete(messages, **params))


def error_of(backend: Backend, model: str, base_url: str | None, **params: object) -> ModelError:
    with pytest.raises(ModelError) as error:
        ask(backend, model, base_url, **params)
    assert KEY not in str(error.value)
    assert "\n" not in str(error.value)
    return error.value


@each_backend
@pytest.mark.parametrize("name", FAULTS)
def test_each_provider_fault_has_the_right_error_kind(
    openai_server: OpenAIServer, backend: Backend, model: str, name: str
) -> None:
    openai_server.plan = lambda number, body: FAULTS[name]

    error = error_of(backend, model, openai_server.base_url, timeout=0.3 if name == "timeout" else 10)

    assert error.kind == name.partition("-")[0]
    assert error.attempts == 1
    assert error.retry_after == (7.0 if name == "rate_limited" else None)
    assert f"the model {model} " in str(error)


@each_backend
@pytest.mark.parametrize("name", [name for name in FAULTS if name != "connection"])
def test_a_fault_is_one_request(openai_server: OpenAIServer, backend: Backend, model: str, name: str) -> None:
    openai_server.plan = lambda number, body: FAULTS[name]

    error_of(backend, model, openai_server.base_url, timeout=0.3 if name == "timeout" else 10)

    assert len(openai_server.requests) == 1


@each_backend
def test_an_error_message_quotes_the_provider_without_keys(
    openai_server: OpenAIServer, backend: Backend, model: str
) -> None:
    openai_server.plan = lambda number, body: Fault("status", 400, message=f"no such voice for {KEY}\nat all")

    error = error_of(backend, model, openai_server.base_url)

    assert "(no such voice for [masked] at all)" in str(error)


@each_backend
def test_a_date_in_retry_after_becomes_seconds(openai_server: OpenAIServer, backend: Backend, model: str) -> None:
    date = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=30), usegmt=True)
    openai_server.plan = lambda number, body: Fault("status", 429, retry_after=date)

    error = error_of(backend, model, openai_server.base_url)

    assert error.retry_after is not None
    assert 25 < error.retry_after <= 30


@each_backend
def test_a_refused_connection_has_the_kind_connection(free_port: int, backend: Backend, model: str) -> None:
    assert error_of(backend, model, f"http://127.0.0.1:{free_port}/v1").kind == "connection"


@openai_backends
def test_the_error_for_a_missing_key_names_the_key(monkeypatch: pytest.MonkeyPatch, backend: Backend) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    error = error_of(backend, "openai/gpt-4o-mini", None, api_key=None)

    assert error.kind == "auth"
    assert "API key" in str(error)


@pytest.mark.parametrize("model", ["no-such-provider/model", "no-such-model"])
def test_an_unknown_provider_is_not_found(model: str) -> None:
    assert error_of(LiteLLM, model, None).kind == "not_found"


@each_backend
def test_a_filtered_reply_keeps_its_text(openai_server: OpenAIServer, backend: Backend, model: str) -> None:
    message = {"role": "assistant", "content": "half of"}
    choice = {"index": 0, "finish_reason": "content_filter", "message": message}
    reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    openai_server.reply = lambda body: reply
    completion = ask(backend, model, openai_server.base_url)
    assert (completion.text, completion.finish_reason) == ("half of", "content_filter")


@each_backend
def test_a_cancellation_passes_through(openai_server: OpenAIServer, backend: Backend, model: str) -> None:
    openai_server.plan = lambda number, body: Fault("hang")

    async def is_cancelled() -> bool:
        client = backend(model)
        task = asyncio.ensure_future(
            client.complete([{"role": "user", "content": "x"}], api_base=openai_server.base_url, api_key=KEY)
        )
        while not openai_server.in_flight:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        await client.aclose()
        return task.cancelled()

    assert asyncio.run(is_cancelled())


@pytest.fixture
def free_port() -> int:
    """Return a port of the loopback interface without a listener."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def http(body: bytes, *headers: str) -> Fault:
    """Return a fault that sends status 200 with this body."""
    lines = ("HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers)
    return Fault("raw", raw="".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body)


LOOP = Fault(
    "raw", raw=b"HTTP/1.1 307 X\r\nLocation: /v1/chat/completions\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)
REDIRECTS = "TooManyRedirects: Exceeded maximum allowed redirects"
NO_HTTP = "BadStatusLine: Bad status line: Expected HTTP/, RTSP/ or ICE/:"
TOO_LONG = "LineTooLong: Got more than 8190 bytes when reading: b'aaaa"
BUFFER = "RemoteProtocolError: Receive buffer too long"
ThreeCauses = tuple[str, str, str]
CLIENT_SIDE: dict[str, tuple[Fault, str, str | ThreeCauses]] = {
    "a redirect loop": (LOOP, "bad_address", ("TooManyRedirects: more than 10 redirects", REDIRECTS, REDIRECTS)),
    "another protocol": (
        Fault("raw", raw=b"SSH-2.0-OpenSSH_9.0\r\n\r\n"),
        "bad_protocol",
        ("RemoteProtocolError: illegal status line: bytearray(b'SSH-2.0-OpenSSH_9.0')", NO_HTTP, NO_HTTP),
    ),
    "a header too large": (http(b"{}", "X: " + "a" * 200_000), "bad_protocol", (BUFFER, TOO_LONG, TOO_LONG)),
    "too many headers": (
        http(b"{}", *(f"X{n}: a" for n in range(20_000))),
        "bad_protocol",
        (BUFFER, "BadHttpMessage: Too many headers received", "BadHttpMessage: Too many headers received"),
    ),
    "not gzip": (
        http(b"plain", "Content-Encoding: gzip"),
        "bad_protocol",
        "error: Error -3 while decompressing data: incorrect header check",
    ),
    "not UTF-8": (
        http(b'{"choices": ["\xff"]}'),
        "malformed_response",
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 14: invalid start byte",
    ),
    "no choices": (
        http(b'{"id": "x"}'),
        "malformed_response",
        ("no 'choices'", "'choices'", "'choices'"),
    ),
    "choices that are null": (
        http(b'{"choices": null}'),
        "malformed_response",
        ("'choices' is not a list", "'choices'", "'choices'"),
    ),
    "a list": (
        http(b"[]"),
        "malformed_response",
        (
            "a JSON list instead of an object",
            "Empty or invalid response from LLM endpoint. Received: []",
            "AttributeError: 'list' object has no attribute 'get'",
        ),
    ),
    "a page": (http(b"<html>"), "malformed_response", "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
    "deeply nested JSON": (
        http(b"[" * 100_000),
        "malformed_response",
        "RecursionError: maximum recursion depth exceeded",
    ),
}
"""Name of a fault -> fault, kind of the error, and text of its cause: one for all `BACKENDS`, or one for each."""


@pytest.mark.parametrize("at", range(len(BACKENDS)), ids=BACKENDS)
@pytest.mark.parametrize("name", CLIENT_SIDE)
def test_a_client_side_fault_has_its_own_kind_and_message(openai_server: OpenAIServer, name: str, at: int) -> None:
    backend, model = list(BACKENDS.values())[at]
    fault, kind, cause = CLIENT_SIDE[name]
    openai_server.plan = lambda number, body: fault

    error = error_of(backend, model, openai_server.base_url)

    assert error.kind == kind
    assert (cause if isinstance(cause, str) else cause[at]) in str(error).partition("(")[2]
    assert "try again later" not in str(error)


@each_backend
@pytest.mark.parametrize(
    "base", ["http://ann:pw-1@127.0.0.1:9/v1", "ftp://h/v1", "http://h:99999/v1", "http://[::1/v1"]
)
def test_an_invalid_address_is_refused_without_its_password(backend: Backend, model: str, base: str) -> None:
    error = error_of(backend, model, base)
    assert error.kind == "bad_address"
    assert "correct api_base" in str(error)
    assert "pw-1" not in str(error)


def test_the_size_limit_of_a_reply_applies_after_decompression(openai_server: OpenAIServer) -> None:
    bomb = gzip.compress(b" " * 2_000_000)
    openai_server.plan = lambda number, body: http(bomb, "Content-Encoding: gzip")
    error = error_of(*PLAIN, openai_server.base_url, max_reply_bytes=1_000_000)
    assert error.kind == "too_large"
    assert "larger than 1,000,000 bytes" in str(error)
    assert "max_reply_bytes" not in openai_server.requests[0].body
