"""Requests of each HTTP library to a real server: recorded, replayed, metered and charged to their case."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from support.recording.http_session import case, recording, texts_in
from support.servers.provider_server import ProviderServer

from pytest_rageval.llm.client.session_calls import session_call
from pytest_rageval.llm.client.usage_meter import RefusedCallError

Send = Callable[[str, dict[str, Any] | None], tuple[int, dict[str, str], bytes]]
"""Posts JSON to an address, or gets the address; returns status, headers and body."""


def library(name: str) -> Any:
    return pytest.importorskip(name)


def by_httpx(name: str) -> Send:
    def send(url: str, body: dict[str, Any] | None) -> tuple[int, dict[str, str], bytes]:
        with library(name).Client() as client:
            reply = client.get(url) if body is None else client.post(url, json=body)
            return reply.status_code, dict(reply.headers), reply.content

    return send


def by_async_httpx(name: str) -> Send:
    async def ask(url: str, body: dict[str, Any] | None) -> tuple[int, dict[str, str], bytes]:
        async with library(name).AsyncClient() as client:
            reply = await (client.get(url) if body is None else client.post(url, json=body))
            return reply.status_code, dict(reply.headers), reply.content

    return lambda url, body: asyncio.run(ask(url, body))


def by_requests(url: str, body: dict[str, Any] | None) -> tuple[int, dict[str, str], bytes]:
    with library("requests").Session() as session:
        reply = session.get(url) if body is None else session.post(url, json=body)
        return reply.status_code, {name.lower(): value for name, value in reply.headers.items()}, reply.content


def by_urllib3(url: str, body: dict[str, Any] | None) -> tuple[int, dict[str, str], bytes]:
    with library("urllib3").PoolManager() as pool:
        reply = pool.request("GET", url) if body is None else pool.request("POST", url, json=body)
        return reply.status, {name.lower(): value for name, value in reply.headers.items()}, reply.data


def by_aiohttp(url: str, body: dict[str, Any] | None) -> tuple[int, dict[str, str], bytes]:
    async def ask() -> tuple[int, dict[str, str], bytes]:
        async with library("aiohttp").ClientSession() as session:
            reply = await (session.get(url) if body is None else session.post(url, json=body))
            return reply.status, {name.lower(): value for name, value in reply.headers.items()}, await reply.read()

    return asyncio.run(ask())


SENDERS: dict[str, Send] = {
    "httpx": by_httpx("httpx"),
    "httpx-async": by_async_httpx("httpx"),
    "httpx2": by_httpx("httpx2"),
    "httpx2-async": by_async_httpx("httpx2"),
    "requests": by_requests,
    "urllib3": by_urllib3,
    "aiohttp": by_aiohttp,
}


@pytest.fixture(params=SENDERS)
def send(request: pytest.FixtureRequest) -> Send:
    return SENDERS[request.param]


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer() as running_server:
        yield running_server


def chat(text: str, **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **fields}


def test_a_reply_is_recorded_and_replayed_without_the_server(
    send: Send, server: ProviderServer, tmp_path: Path
) -> None:
    url = f"{server.base_url}/chat/completions?key=geheim0"
    with recording(tmp_path, "new_episodes"), case() as live:
        status, headers, body = send(url, chat("When does it open?"))
    assert (status, headers["content-type"], headers["x-request-id"]) == (200, "application/json", "req_1")
    with recording(tmp_path, "none") as session, case() as replayed:
        again = send(url, chat("When does it open?"))
    assert len(server.requests) == 1
    assert (again[0], again[2]) == (200, body)
    assert {name: again[1][name] for name in ("content-type", "x-request-id")} == {
        "content-type": "application/json",
        "x-request-id": "req_1",
    }
    price = 4 * 0.15e-6 + 4 * 0.6e-6
    assert live.calls.prompt_tokens == live.calls.completion_tokens == 4
    assert (live.calls.calls, live.calls.attempts, live.calls.replayed) == (1, 1, 0)
    assert live.calls.cost_usd == live.calls.spent_usd == pytest.approx(price)
    assert (replayed.calls.calls, replayed.calls.attempts, replayed.calls.replayed) == (1, 0, 1)
    assert replayed.calls.cost_usd == pytest.approx(price)
    assert replayed.calls.spent_usd == 0
    assert replayed.meter.replayed
    assert live.meter.keys == replayed.meter.keys
    assert session.calls.calls == 0
    assert "geheim" not in texts_in(tmp_path)
    (step,) = live.steps
    assert (step.kind, step.detail["text"], step.detail["prompt"]) == (
        "completion",
        "It opens at 9:00.",
        chat("When does it open?")["messages"],
    )
    assert (step.detail["prompt_tokens"], step.detail["completion_tokens"]) == (4, 4)
    assert replayed.steps[0].detail["replayed"] is True


def test_a_request_without_a_recording_is_refused_with_the_changed_message(
    send: Send, server: ProviderServer, tmp_path: Path
) -> None:
    url = f"{server.base_url}/chat/completions"
    with recording(tmp_path, "new_episodes"), case():
        send(url, chat("When does the museum open?"))
    with recording(tmp_path, "none"), case() as scope, pytest.raises(RefusedCallError) as error:
        send(url, chat("When does the museum close?"))
    assert len(server.requests) == 1
    assert "-  When does the museum open?\n+  When does the museum close?" in str(error.value)
    assert "differs in messages[0] (user)" in str(error.value)
    assert scope.meter.refused is error.value.error


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_an_error_is_passed_on_and_not_recorded(
    status: int, send: Send, server: ProviderServer, tmp_path: Path
) -> None:
    server.status = status
    with recording(tmp_path, "new_episodes"), case() as scope:
        reply_status, _, body = send(f"{server.base_url}/chat/completions", chat("hi"))
    assert (reply_status, json.loads(body)["error"]["message"]) == (status, "failed on plan")
    assert texts_in(tmp_path) == ""
    assert (scope.calls.calls, scope.calls.attempts) == (0, 1)


def test_pages_are_recorded_and_cost_nothing(send: Send, server: ProviderServer, tmp_path: Path) -> None:
    for mode in ("new_episodes", "none"):
        with recording(tmp_path, mode), case() as scope:
            assert send(f"{server.root}/pages/1", None)[::2] == (200, b"page /pages/1")
            assert send(f"{server.root}/pages/none", None)[::2] == (404, b"no such page")
        assert (scope.calls.calls, scope.calls.cost_usd, scope.steps) == (0, 0, ())
    assert len(server.requests) == 2


def test_a_token_in_a_reply_is_passed_on_and_not_recorded(send: Send, server: ProviderServer, tmp_path: Path) -> None:
    server.issues = "geheim-0123456789"
    with recording(tmp_path, "new_episodes"), case():
        _, _, live = send(f"{server.root}/oauth/token", {"client_secret": "geheim", "scope": "search"})
    with recording(tmp_path, "none"), case():
        _, _, replayed = send(f"{server.root}/oauth/token", {"client_secret": "geheim", "scope": "search"})
    assert json.loads(live) == {"access_token": "geheim-0123456789", "expires_in": 60}
    assert json.loads(replayed) == {"access_token": "<masked>", "expires_in": 60}
    assert "geheim" not in texts_in(tmp_path)


def test_a_compressed_reply_is_recorded_as_text(send: Send, server: ProviderServer, tmp_path: Path) -> None:
    server.compresses = True
    for mode in ("new_episodes", "none"):
        with recording(tmp_path, mode), case() as scope:
            _, _, body = send(f"{server.base_url}/chat/completions", chat("hi"))
        if body[:2] == b"\x1f\x8b":  # only urllib3 does not decompress the reply
            body = gzip.decompress(body)
        assert json.loads(body)["choices"][0]["message"]["content"] == "It opens at 9:00."
        assert scope.calls.completion_tokens == 4
    assert "It opens at 9:00." in texts_in(tmp_path)
    assert len(server.requests) == 1


def test_requests_to_other_hosts_and_of_session_models_are_not_recorded(
    send: Send, server: ProviderServer, tmp_path: Path
) -> None:
    url = f"{server.base_url}/chat/completions"
    with recording(tmp_path, "none", "api.openai.com", "127.0.0.1:9"), case() as scope:
        assert send(url, chat("hi"))[0] == 200
    with recording(tmp_path, "none"), case(), session_call():
        assert send(url, chat("hi"))[0] == 200
    assert scope.calls.attempts == 0
    assert texts_in(tmp_path) == ""


def test_without_a_record_mode_calls_are_only_metered(send: Send, server: ProviderServer, tmp_path: Path) -> None:
    with recording(tmp_path, None), case() as scope:
        send(f"{server.base_url}/chat/completions", chat("hi"))
        send(f"{server.base_url}/chat/completions", chat("hi"))
    assert (scope.calls.calls, len(server.requests), len(scope.steps)) == (2, 2, 2)
    assert list(tmp_path.iterdir()) == []


def test_each_repeat_has_separate_recordings(send: Send, server: ProviderServer, tmp_path: Path) -> None:
    for mode in ("new_episodes", "none"):
        for repeat in (1, 2):
            with recording(tmp_path, mode), case(repeat):
                send(f"{server.base_url}/chat/completions", chat("hi"))
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", ["httpx", "requests", "urllib3"])
def test_sixteen_threads_record_and_replay_every_request(name: str, server: ProviderServer, tmp_path: Path) -> None:
    server.say = lambda body: str(body["messages"][0]["content"]).upper()

    def ask(number: int) -> tuple[str, int | None]:
        with case() as scope:
            texts = []
            for turn in range(3):
                _, _, body = SENDERS[name](f"{server.base_url}/chat/completions", chat(f"case {number} turn {turn}"))
                texts.append(json.loads(body)["choices"][0]["message"]["content"])
            return " ".join(texts), scope.calls.prompt_tokens

    expected = [(" ".join(f"CASE {number} TURN {turn}" for turn in range(3)), 12) for number in range(16)]
    for mode in ("new_episodes", "none"):
        with recording(tmp_path, mode) as session, ThreadPoolExecutor(16) as threads:
            assert list(threads.map(ask, range(16))) == expected
        assert session.calls.calls == 0
    assert len(server.requests) == 48
    assert len(texts_in(tmp_path).splitlines()) == 48


@pytest.mark.parametrize("name", ["httpx", "httpx2", "aiohttp"])
def test_sixteen_coroutines_are_charged_separately(name: str, server: ProviderServer, tmp_path: Path) -> None:
    async def ask(client: Any, number: int) -> tuple[int | None, int]:
        with case() as scope:
            for turn in range(3):
                body = chat("word " * number, seed=turn)
                if name == "aiohttp":
                    async with client.post(f"{server.base_url}/chat/completions", json=body) as reply:
                        await reply.json()
                else:
                    await client.post(f"{server.base_url}/chat/completions", json=body)
            return scope.calls.prompt_tokens, len(scope.steps)

    async def ask_all() -> list[tuple[int | None, int]]:
        module = library(name)
        async with module.ClientSession() if name == "aiohttp" else module.AsyncClient() as client:
            return await asyncio.gather(*(ask(client, number) for number in range(1, 17)))

    for mode in ("new_episodes", "none"):
        with recording(tmp_path, mode):
            assert asyncio.run(ask_all()) == [(3 * number, 3) for number in range(1, 17)]
    assert len(server.requests) == 48


def test_only_threads_with_the_context_of_a_case_are_charged_to_it(server: ProviderServer, tmp_path: Path) -> None:
    url = f"{server.base_url}/chat/completions"
    with recording(tmp_path, "new_episodes") as session, case() as scope:
        for run in (copy_context().run, lambda function, *args: function(*args)):
            thread = threading.Thread(target=run, args=(SENDERS["requests"], url, chat(f"hi {run!r}")))
            thread.start()
            thread.join()
    assert (scope.calls.calls, session.calls.calls) == (1, 1)  # a call without the context belongs to no case


def test_identical_requests_at_once_are_sent_once(server: ProviderServer, tmp_path: Path) -> None:
    server.say = lambda body: str(len(server.requests))
    url = f"{server.base_url}/chat/completions"
    with recording(tmp_path, "new_episodes"), ThreadPoolExecutor(8) as threads:
        replies = set(threads.map(lambda _: SENDERS["requests"](url, chat("hi"))[2], range(8)))
    assert (len(replies), len(server.requests)) == (1, 1)


def test_libraries_are_patched_only_while_recording(tmp_path: Path) -> None:
    locations = [
        ("httpx", "HTTPTransport", "handle_request"),
        ("httpx", "AsyncHTTPTransport", "handle_async_request"),
        ("httpx2", "HTTPTransport", "handle_request"),
        ("urllib3.connectionpool", "HTTPConnectionPool", "urlopen"),
        ("aiohttp.client", "ClientSession", "_request"),
    ]

    def methods() -> list[Any]:
        return [vars(getattr(importlib.import_module(at), owner))[name] for at, owner, name in locations]

    before = methods()
    assert not any(hasattr(method, "__wrapped__") for method in before)
    with recording(tmp_path, "none"):
        assert [method.__wrapped__ for method in methods()] == before
    assert methods() == before
