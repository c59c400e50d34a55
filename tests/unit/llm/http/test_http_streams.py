"""HTTP streams: delivered while they are recorded, replayed line by line, not recorded if incomplete."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.recording.http_session import case, recording, texts_in
from support.servers.provider_server import ProviderServer

Read = Callable[[str, dict[str, Any], int | None], list[tuple[float, bytes]]]
"""Posts JSON and reads the stream, up to a number of lines. Returns the lines with their seconds."""

TEXT = "It opens at 9:00."


def timed_lines(lines: Iterator[Any], most: int | None, start: float) -> list[tuple[float, bytes]]:
    results: list[tuple[float, bytes]] = []
    for line in lines:
        data = line if isinstance(line, bytes) else line.encode()
        if data.strip():
            results.append((time.perf_counter() - start, data.strip()))
        if len(results) == most:
            break
    return results


def by_httpx(name: str) -> Read:
    def read(url: str, body: dict[str, Any], most: int | None) -> list[tuple[float, bytes]]:
        start = time.perf_counter()
        with pytest.importorskip(name).Client() as client, client.stream("POST", url, json=body) as reply:
            return timed_lines(reply.iter_lines(), most, start)

    return read


def by_async_httpx(name: str) -> Read:
    async def read(url: str, body: dict[str, Any], most: int | None) -> list[tuple[float, bytes]]:
        start, results = time.perf_counter(), []
        async with pytest.importorskip(name).AsyncClient() as client, client.stream("POST", url, json=body) as reply:
            async for line in reply.aiter_lines():
                results += timed_lines(iter([line]), None, start)
                if len(results) == most:
                    break
        return results

    return lambda url, body, most: asyncio.run(read(url, body, most))


def by_requests(url: str, body: dict[str, Any], most: int | None) -> list[tuple[float, bytes]]:
    start = time.perf_counter()
    with pytest.importorskip("requests").post(url, json=body, stream=True) as reply:
        return timed_lines(reply.iter_lines(chunk_size=None), most, start)


def by_aiohttp(url: str, body: dict[str, Any], most: int | None) -> list[tuple[float, bytes]]:
    async def read() -> list[tuple[float, bytes]]:
        start, results = time.perf_counter(), []
        async with pytest.importorskip("aiohttp").ClientSession() as session, session.post(url, json=body) as reply:
            async for line in reply.content:
                results += timed_lines(iter([line]), None, start)
                if len(results) == most:
                    break
        await asyncio.sleep(0.05)
        return results

    return asyncio.run(read())


READERS: dict[str, Read] = {
    "httpx": by_httpx("httpx"),
    "httpx-async": by_async_httpx("httpx"),
    "httpx2": by_httpx("httpx2"),
    "httpx2-async": by_async_httpx("httpx2"),
    "requests": by_requests,
    "aiohttp": by_aiohttp,
}


@pytest.fixture(params=READERS)
def read(request: pytest.FixtureRequest) -> Read:
    return READERS[request.param]


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(say=TEXT) as running_server:
        yield running_server


def chat(text: str = "When does it open?", **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], "stream": True, **fields}


PATHS = {
    "chat/completions": chat(stream_options={"include_usage": True}),
    "messages": chat(max_tokens=9, model="claude-sonnet-4-5"),
    "responses": {"model": "gpt-4o-mini", "input": "When does it open?", "stream": True},
}


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_is_replayed_line_by_line(path: str, read: Read, server: ProviderServer, tmp_path: Path) -> None:
    lines = []
    for mode in ("new_episodes", "none"):
        with recording(tmp_path, mode), case() as scope:
            lines.append([line for _, line in read(f"{server.base_url}/{path}", PATHS[path], None)])
        assert scope.calls.prompt_tokens == (8 if path == "messages" else 4)
        assert scope.calls.completion_tokens == 4
        assert scope.calls.cost_usd is not None
        assert scope.calls.replayed == (mode == "none")
        assert scope.steps[0].detail["text"] == TEXT
    assert len(lines[0]) > 4
    assert lines[0] == lines[1]
    assert len(server.requests) == 1


def test_events_arrive_while_they_are_recorded(read: Read, server: ProviderServer, tmp_path: Path) -> None:
    server.delay_s = 0.05
    with recording(tmp_path, "new_episodes"), case():
        events = read(f"{server.base_url}/chat/completions", chat(), None)
    first, last = events[0][0], events[-1][0]
    assert last - first >= 0.15  # the server waits five times between them


def test_a_stream_without_usage_has_unknown_tokens(read: Read, server: ProviderServer, tmp_path: Path) -> None:
    for mode in ("new_episodes", "none"):
        with recording(tmp_path, mode), case() as scope:
            read(f"{server.base_url}/chat/completions", chat(), None)
        assert (scope.calls.calls, scope.calls.prompt_tokens, scope.calls.cost_usd) == (1, None, None)
    assert len(server.requests) == 1


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_that_the_server_cuts_is_not_recorded(
    path: str, read: Read, server: ProviderServer, tmp_path: Path
) -> None:
    server.cut = 2
    with recording(tmp_path, "new_episodes"), case() as scope, pytest.raises(Exception):  # noqa: B017, PT011
        read(f"{server.base_url}/{path}", PATHS[path], None)
    assert texts_in(tmp_path) == ""
    assert (scope.calls.calls, scope.calls.on_their_way) == (1, 1)
    server.cut = None
    with recording(tmp_path, "new_episodes"), case():
        read(f"{server.base_url}/{path}", PATHS[path], None)
    assert len(texts_in(tmp_path).splitlines()) == 1


def test_a_stream_that_the_client_stops_reading_is_not_recorded(
    read: Read, server: ProviderServer, tmp_path: Path
) -> None:
    server.delay_s = 0.05
    with recording(tmp_path, "new_episodes"), case() as scope:
        assert len(read(f"{server.base_url}/chat/completions", chat(), 1)) == 1
    assert texts_in(tmp_path) == ""
    assert (scope.calls.calls, scope.calls.on_their_way) == (1, 1)
