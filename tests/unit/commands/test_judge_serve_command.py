"""``rageval judge serve``: the judge over HTTP, in a separate process."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.projects.judge_folders import answers, trained_folder
from support.servers.page_process import MAIN, start_page

from pytest_rageval.cli import main
from pytest_rageval.llm.backends.litellm_backend import LiteLLM
from pytest_rageval.llm.backends.openai_http import OpenAIHTTP
from pytest_rageval.local_judges.local_judge import load_judge
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE
from pytest_rageval.model.chat import ChatModel

SERVE = (*MAIN, "judge", "serve")


class JudgeServer:
    """A running server and its address."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.process = start_page(folder, "--port", "0", *arguments, program=SERVE, environment=environment)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/v1", line)
        assert address, line + self.process.communicate()[1]
        self.line, self.base = line, address[0]

    def post(self, body: Any, **headers: str) -> httpx.Response:
        return httpx.post(f"{self.base}/chat/completions", json=body, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_folder(tmp_path_factory.mktemp("judge"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[JudgeServer]:
    server = JudgeServer(folder)
    yield server
    server.process.kill()
    server.process.communicate()


@pytest.mark.parametrize(("backend", "n"), [(OpenAIHTTP, 60), (LiteLLM, 10)], ids=["plain", "litellm"])
def test_the_server_gives_the_same_verdicts_as_the_judge_in_this_process(
    server: JudgeServer, folder: Path, backend: Any, n: int
) -> None:
    """`tests/benchmarks/served_judge.py` compares 1,000 verdicts of each."""
    local_judge = load_judge(folder, "here", lambda: None)
    batch = answers(n)
    expected = [each.decision.label for each in local_judge.judge_batch(batch) if each.decision is not None]
    model = backend("openai/accuracy_judged")
    verdicts = asyncio.run(ask_server(model, [each.sample for each in batch], server.base))
    assert [verdict.label for verdict in verdicts] == expected
    assert set(expected) == {"right", "wrong"}


async def ask_server(model: Any, samples: list[Any], base: str) -> list[Any]:
    class ServedModel:
        async def complete(self, messages: Any, **params: Any) -> Any:
            return await model.complete(messages, api_base=base, api_key="none", **params)

    chat: ChatModel = ServedModel()
    try:
        return [await ACCURACY_JUDGE.ask(sample, chat) for sample in samples]
    finally:
        if hasattr(model, "aclose"):
            await model.aclose()


def body(**changes: Any) -> dict[str, Any]:
    (answer,) = answers(1)
    return {"model": "accuracy_judged", "messages": list(map(dict, ACCURACY_JUDGE.messages(answer.sample)))} | changes


def test_the_server_reports_its_judge(server: JudgeServer) -> None:
    assert server.line.startswith("accuracy_judged (")
    assert httpx.get(server.base.removesuffix("/v1") + "/healthz").json()["status"] == "ok"
    (model,) = httpx.get(f"{server.base}/models").json()["data"]
    assert model["id"] == "accuracy_judged"
    reply = server.post(body()).json()
    assert (reply["model"], reply["choices"][0]["finish_reason"]) == ("accuracy_judged", "stop")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "gpt-4o"}, "the model is 'gpt-4o'; this server has accuracy_judged"),
        ({"stream": True}, "a judge's reply is not streamed; leave out stream"),
        ({"n": 3}, "a judge gives one reply; leave out n"),
        ({"messages": "judge!"}, "messages is not a list of messages"),
        ({"messages": [{"role": "user", "content": "Hello"}]}, "wanted two messages, the prompt of accuracy_judged"),
        ({"messages": [{"role": "user", "content": "a" * (2**20 + 1)}]}, "a message is longer than 1,048,576 char"),
    ],
)
def test_an_invalid_request_is_refused_in_one_sentence(
    server: JudgeServer, changes: dict[str, Any], message: str
) -> None:
    answer = server.post(body(**changes))
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(message)


def test_only_local_requests_are_answered(server: JudgeServer) -> None:
    assert server.post(body(), host="judge.example").status_code == 403
    assert server.post(body(), origin="http://127.0.0.1").status_code == 403
    health = server.base.removesuffix("/v1") + "/healthz"
    assert httpx.get(health, headers={"Host": "judge.example"}).status_code == 403
    assert httpx.get(health, headers={"Origin": "http://127.0.0.1"}).status_code == 403
    assert httpx.post(f"{server.base}/chat/completions", content=b"{").json()["error"]["message"] == (
        "the body is not valid JSON"
    )
    assert httpx.get(f"{server.base}/chat/completions").status_code == 405


def test_a_signal_stops_the_server_after_the_running_request(folder: Path) -> None:
    server = JudgeServer(folder, "--token-env", "JUDGE_TOKEN", JUDGE_TOKEN="secret")  # noqa: S106
    assert server.post(body()).status_code == 401
    url, content = httpx.URL(server.base), json.dumps(body()).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {url.host}\r\nAuthorization: Bearer secret\r\n"
    with socket.create_connection((url.host, url.port or 0), timeout=30) as connection:
        connection.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content[:100])
        assert httpx.get(f"{server.base}/models", headers={"Authorization": "Bearer secret"}).status_code == 200
        server.process.send_signal(signal.SIGTERM)
        wait_until_closed(url.port or 0)
        assert server.process.poll() is None
        connection.sendall(content[100:])
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"label" in answer
    server.process.communicate(timeout=30)
    assert server.process.returncode == 0


def test_a_second_signal_stops_the_server_during_a_request(folder: Path) -> None:
    server = JudgeServer(folder)
    url = httpx.URL(server.base)
    with socket.create_connection((url.host, url.port or 0), timeout=30) as connection:
        connection.sendall(
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: {url.host}\r\nContent-Length: 9\r\n\r\n".encode()
        )
        assert httpx.get(f"{server.base}/models").status_code == 200
        server.process.send_signal(signal.SIGTERM)
        wait_until_closed(url.port or 0)
        server.process.send_signal(signal.SIGTERM)
        server.process.communicate(timeout=20)
    assert server.process.returncode == 0


def wait_until_closed(port: int) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return
        time.sleep(0.02)
    pytest.fail("the server still listens")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--token-env", "NO_SUCH_TOKEN"], "--token-env 'NO_SUCH_TOKEN': the variable is not set, or empty"),
        (["--port", "99999"], "--port 99999 is outside 0..65535"),
    ],
)
def test_invalid_options_are_refused(
    folder: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    assert main(["judge", "serve", str(folder), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_a_judge_and_a_used_port_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", "serve", str(tmp_path)]) == 2
    assert "holds no judge.json" in capsys.readouterr().err
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert main(["judge", "serve", str(folder), "--port", str(listener.getsockname()[1])]) == 2
    assert "choose another, or leave it out" in capsys.readouterr().err
