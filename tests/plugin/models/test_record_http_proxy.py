"""``rag_proxy`` records and charges the calls of a system in another process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.projects.model_projects import asks, loaded, numbered  # noqa: F401
from support.projects.rag_project import Project
from support.servers.openai_server import OpenAIServer
from support.servers.provider_server import ProviderServer

import pytest_rageval.hooks.config.http_recording  # noqa: F401

pytest.importorskip("httpx")

PROGRAM = """
    import json, os, sys, urllib.request

    def ask(text, stream):
        body = {"model": "gpt-4o-mini", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", "Bearer sk-geheim")
        with urllib.request.urlopen(request) as reply:
            return reply.read().decode()

    print(ask(sys.argv[1], len(sys.argv) > 2))
"""
SYSTEM = """
    import asyncio
    import json
    import subprocess
    import sys
    import pytest

    @pytest.fixture(scope="session")
    def rag_system(rag_proxy):
        assert rag_proxy.startswith("http://127.0.0.1:")

        {way} answer(query):
            command = [sys.executable, "program.py", query.question{more}]
            return {call}

        return answer
"""
BLOCKING = ("def", "subprocess.run(command, check=True, capture_output=True, text=True).stdout")
CONCURRENT = (
    "async def",
    "(await (await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)).communicate())[0].decode()",
)
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag): ...
"""
FILE = "cassettes/http-127.0.0.1.jsonl"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer(say="It is in Paris.") as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        yield running


def write_project(project: Project, *ini: str, way: tuple[str, str] = BLOCKING, more: str = "", count: int = 3) -> None:
    """Make a project whose system is a program that asks the address in its environment."""
    project.file("pytest.ini", "\n".join(["[pytest]", "rag_proxy = on", "rag_record_http = 127.0.0.1:*", *ini]))
    project.file("program.py", PROGRAM)
    project.file("conftest.py", SYSTEM.format(way=way[0], call=way[1], more=more))
    project.data(numbered(count))
    project.file("test_it.py", TEST)


@pytest.mark.parametrize("more", ["", ", 'stream'"])
def test_one_case_at_a_time_is_recorded_charged_and_replayed(
    more: str, project: Project, server: ProviderServer
) -> None:
    write_project(project, "rag_record_mode = once", more=more)
    first = project.run()
    assert first.status == 0, first.text
    assert len(server.requests) == 3
    assert os.environ["OPENAI_BASE_URL"] == server.base_url
    for outcome in first.outcomes.values():
        calls = outcome["calls"]
        assert (calls["calls"], calls["prompt_tokens"], calls["completion_tokens"]) == (1, 3, 4)
        assert calls["cost_usd"] > 0
        assert "Paris" in outcome["answer"]["text"]
    again = project.run("--rag-record-mode", "none")
    assert (again.status, len(server.requests)) == (0, 3), again.text
    for name, outcome in again.outcomes.items():
        assert outcome["answer"]["text"] == first.outcomes[name]["answer"]["text"]
        assert outcome["calls"]["replayed"] == 1
    assert "rag_proxy:" not in again.text
    assert "geheim" not in (project.path / FILE).read_text()


def test_calls_of_concurrent_cases_count_in_the_session_only_and_are_reported(
    project: Project, server: ProviderServer
) -> None:
    server.hold_s = 1.0
    write_project(project, "rag_record_mode = once", way=CONCURRENT)
    run = project.run()
    assert run.status == 0, run.text
    assert "came while several cases ran, so they count in the session's sum and in no case" in run.prose
    assert "give --rag-concurrency 1 to count each call in its case" in run.prose
    assert run.results["usage"]["calls"] == 3


def test_a_missing_recording_is_an_error_of_the_case(project: Project, server: ProviderServer) -> None:
    write_project(project, "rag_record_mode = none")
    run = project.run()
    assert {outcome["error_type"] for outcome in run.outcomes.values()} == {"not_recorded"}
    assert server.requests == []


def test_a_case_is_recorded_again(project: Project, server: ProviderServer) -> None:
    write_project(project, "rag_record_mode = once")
    assert project.run().status == 0
    server.say = "It moved to Paris."
    again = project.run("--rag-record-mode", "none", "--rag-record-case", "q01")
    assert (again.status, len(server.requests)) == (0, 4), again.text
    assert ["moved" in again.outcomes[name]["answer"]["text"] for name in ("q00", "q01", "q02")] == [False, True, False]


def test_a_swallowed_missing_recording_of_concurrent_cases_is_an_error(
    project: Project, server: ProviderServer
) -> None:
    write_project(project, "rag_record_mode = none", way=CONCURRENT)
    run = project.run()
    assert {outcome["error_type"] for outcome in run.outcomes.values()} == {"not_recorded"}
    assert server.requests == []


def test_the_sessions_model_does_not_use_the_proxy(
    project: Project, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai_server.reply = "Paris"
    monkeypatch.setenv("OPENAI_BASE_URL", openai_server.base_url)
    asks(project, "", numbered(2), "rag_record_mode = once", "rag_proxy = on")
    ini = project.path / "pytest.ini"
    ini.write_text(ini.read_text().replace("    api_base = \n", ""))
    run = project.run()
    assert run.status == 0, run.text
    assert [path.name for path in Path(project.path, "cassettes").iterdir()] == ["model-openai--m.jsonl"]
    assert len(openai_server.requests) == 2


def test_an_unreachable_upstream_is_a_system_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    write_project(project, count=1)
    run = project.run()
    assert run.outcomes["q00"]["error_type"] == "system_error"


def test_without_rag_proxy_there_is_no_server_and_no_variable(project: Project, server: ProviderServer) -> None:
    project.says([], 'metrics=["accuracy"]')
    project.file(
        "test_off.py",
        f"""
        import os
        import threading

        def test_off(rag_proxy):
            assert rag_proxy is None
            assert os.environ["OPENAI_BASE_URL"] == {server.base_url!r}
            assert "rageval-proxy" not in {{thread.name for thread in threading.enumerate()}}
        """,
    )
    assert project.run("test_off.py", json_path=None).status == 0
