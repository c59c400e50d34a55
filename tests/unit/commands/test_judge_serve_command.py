"""``rageval judge serve``: the judge over HTTP, in a process of its own."""

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


class Served:
    """A running server and its address."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.process = start_page(folder, "--port", "0", *arguments, program=SERVE, environment=environment)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/v1", line)
        assert found, line + self.process.communicate()[1]
        self.line, self.base = line, found[0]

    def post(self, body: Any, **headers: str) -> httpx.Response:
        return httpx.post(f"{self.base}/chat/completions", json=body, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_folder(tmp_path_factory.mktemp("judge"))


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    server = Served(folder)
    yield server
    server.process.kill()
    server.process.communicate()


@pytest.mark.parametrize(("backend", "n"), [(OpenAIHTTP, 60), (LiteLLM, 10)], ids=["plain", "litellm"])
def test_each_verdict_is_that_of_the_judge_in_this_process(served: Served, folder: Path, backend: Any, n: int) -> None:
    """`tests/benchmarks/served_judge.py` compares 1,000 of each."""
    here = load_judge(folder, "here", lambda: None)
    batch = answers(n)
    wanted = [each.decision.label for each in here.judge_batch(batch) if each.decision is not None]
    model = backend("openai/accuracy_judged")
    verdicts = asyncio.run(asked(model, [each.sample for each in batch], served.base))
    assert [verdict.label for verdict in verdicts] == wanted
    assert set(wanted) == {"right", "wrong"}


async def asked(model: Any, samples: list[Any], base: str) -> list[Any]:
    class AtTheServer:
        async def complete(self, messages: Any, **params: Any) -> Any:
            return await model.complete(messages, api_base=base, api_key="none", **params)

    chat: ChatModel = AtTheServer()
    try:
        return [await ACCURACY_JUDGE.ask(sample, chat) for sample in samples]
    finally:
        if hasattr(model, "aclose"):
            await model.aclose()


def body(**changes: Any) -> dict[str, Any]:
    (judged,) = answers(1)
    return {"model": "accuracy_judged", "messages": list(map(dict, ACCURACY_JUDGE.messages(judged.sample)))} | changes


def test_it_says_who_it_is(served: Served) -> None:
    assert served.line.startswith("accuracy_judged (")
    assert httpx.get(served.base.removesuffix("/v1") + "/healthz").json()["status"] == "ok"
    (model,) = httpx.get(f"{served.base}/models").json()["data"]
    assert model["id"] == "accuracy_judged"
    reply = served.post(body()).json()
    assert (reply["model"], reply["choices"][0]["finish_reason"]) == ("accuracy_judged", "stop")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model": "gpt-4o"}, "the model is 'gpt-4o'; this server has accuracy_judged"),
        ({"stream": True}, "a judge's reply is not streamed; leave out stream"),
        ({"n": 3}, "a judge gives one reply; leave out n"),
        ({"messages": "judge!"}, "messages is not a list of messages"),
        ({"messages": [{"role": "user", "content": "Hello"}]}, "wanted two messages, the prompt of accuracy_judged"),
        ({"messages": [{"role": "user", "content": "a" * (2**20 + 1)}]}, "a message is longer than 1,048,576 char"),
    ],
)
def test_anything_else_is_refused_in_one_sentence(served: Served, changes: dict[str, Any], told: str) -> None:
    answer = served.post(body(**changes))
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(told)


def test_only_programs_of_this_machine_are_answered(served: Served) -> None:
    assert served.post(body(), host="judge.example").status_code == 403
    assert served.post(body(), origin="http://127.0.0.1").status_code == 403
    health = served.base.removesuffix("/v1") + "/healthz"
    assert httpx.get(health, headers={"Host": "judge.example"}).status_code == 403
    assert httpx.get(health, headers={"Origin": "http://127.0.0.1"}).status_code == 403
    assert httpx.post(f"{served.base}/chat/completions", content=b"{").json()["error"]["message"] == (
        "the body is not valid JSON"
    )
    assert httpx.get(f"{served.base}/chat/completions").status_code == 405


def test_it_ends_after_the_request_in_work(folder: Path) -> None:
    server = Served(folder, "--token-env", "JUDGE_TOKEN", JUDGE_TOKEN="secret")  # noqa: S106
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


def test_a_second_signal_does_not_wait_for_half_a_request(folder: Path) -> None:
    server = Served(folder)
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
    ("arguments", "told"),
    [
        (["--token-env", "NO_SUCH_TOKEN"], "--token-env 'NO_SUCH_TOKEN': the variable is not set, or empty"),
        (["--port", "99999"], "--port 99999 is outside 0..65535"),
    ],
)
def test_what_cannot_be_served_is_refused(
    folder: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    assert main(["judge", "serve", str(folder), *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_folder_without_a_judge_and_a_taken_port_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", "serve", str(tmp_path)]) == 2
    assert "holds no judge.json" in capsys.readouterr().err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["judge", "serve", str(folder), "--port", str(taken.getsockname()[1])]) == 2
    assert "choose another, or leave it out" in capsys.readouterr().err
