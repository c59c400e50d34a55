"""A record mode or a budget that observes no call of a user's system warns or fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.projects.model_projects import loaded, numbered  # noqa: F401
from support.projects.rag_project import Project
from support.servers.provider_server import ProviderServer

SYSTEM = """
    import httpx
    import json
    import pytest
    import urllib.request

    def body(text):
        return {{"model": "gpt-4o-mini", "max_tokens": 4, "messages": [{{"role": "user", "content": text}}]}}

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            {ask}

        return answer
"""
HTTPX = """reply = httpx.post("{address}/chat/completions", json=body(query.question))
            return reply.json()["choices"][0]["message"]["content"]"""
URLLIB = """data = json.dumps(body(query.question)).encode()
            with urllib.request.urlopen("{address}/chat/completions", data) as reply:
                return json.load(reply)["choices"][0]["message"]["content"]"""
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1"])
    def test_it(rag): ...
"""
HEAD = "your system's calls are not seen: rag_record_http saw no request of the fixture rag_system"


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(say="It is in Paris.") as running:
        yield running


def write_project(project: Project, server: ProviderServer, hosts: str, ask: str = HTTPX) -> None:
    project.file("pytest.ini", f"[pytest]\nrag_record_http = {hosts}\n")
    project.file("conftest.py", SYSTEM.format(ask=ask.format(address=server.base_url)))
    project.data(numbered(4))
    project.file("test_it.py", TEST)


@pytest.mark.parametrize(
    ("mode", "effect", "more"),
    [("once", "recorded", ()), ("none", "replayed", ("-n2",))],
)
def test_requests_to_unlisted_hosts_fail_the_session(
    project: Project, server: ProviderServer, mode: str, effect: str, more: tuple[str, ...]
) -> None:
    write_project(project, server, "localhost:1")
    reports = ("--rag-markdown", "report.md", "--rag-html", "report.html")
    run = project.run("--rag-record-mode", mode, *more, *reports)
    assert run.status == 1, run.text
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    end = f"so the record mode {mode} {effect} none of them; name this host there; until then the exit status is 1"
    warning = f"{HEAD}: 4 went to {host}, which it does not name, {end}"
    assert f"warning: {warning}" in run.prose
    assert run.results["plan"]["notes"] == [warning]
    assert run.results["run"]["exitstatus"] == 1
    assert "all 1 gates hold" not in run.prose
    assert "the gate holds" not in run.prose
    assert warning in (project.path / "report.md").read_text("utf-8").replace("\\", "").replace("&#8203;", "")
    assert f"{HEAD}: 4 went to {host}".replace("'", "&#39;") in (project.path / "report.html").read_text("utf-8")


def test_a_budget_that_observed_no_call_fails_the_session_unless_it_is_partial(
    project: Project, server: ProviderServer
) -> None:
    write_project(project, server, "api.openai.com")
    run = project.run("--rag-budget-usd", "0.000001")
    assert run.status == 1, run.text
    assert "so the budget bounded none of them; name this host there, or give --rag-budget-partial" in run.prose
    run = project.run("--rag-budget-usd", "0.000001", "--rag-budget-partial")
    assert run.status == 0, run.text
    assert "so the budget bounded none of them" in run.prose


def test_an_unsupported_client_is_a_warning_with_a_record_mode_and_fails_a_budget(
    project: Project, server: ProviderServer
) -> None:
    write_project(project, server, "127.0.0.1:*", URLLIB)
    run = project.run("--rag-record-mode", "once")
    assert run.status == 0, run.text
    clients = "ask it with httpx, requests or aiohttp (urllib.request is not seen)"
    advice = f"if it asks a model, name its host there, and {clients}"
    assert f"{HEAD}, so the record mode once recorded none of them; {advice}" in run.prose
    run = project.run("--rag-budget-usd", "1")
    assert run.status == 1
    assert f"{HEAD}, so the budget bounded none of them; {advice}" in run.prose


def test_a_record_mode_without_the_setting_warns(project: Project, server: ProviderServer) -> None:
    write_project(project, server, "")
    run = project.run("--rag-record-mode", "none")
    assert run.status == 0, run.text
    effect = "no setting names the hosts that the fixture rag_system asks, so the record mode none replayed none of"
    assert f"your system's calls are not seen: {effect} them; if it asks a model, name its host" in run.prose


def test_observed_requests_are_no_warning(project: Project, server: ProviderServer) -> None:
    other = """httpx.get("{address}/pages/other".replace("127.0.0.1", "localhost"))
            """
    write_project(project, server, "127.0.0.1:*", other + HTTPX)
    for mode in ("once", "none"):
        run = project.run("--rag-record-mode", mode, "--rag-budget-usd", "1")
        assert run.status == 0, run.text
        assert run.results["plan"]["notes"] == []


@pytest.mark.parametrize("args", [("--rag-dry-run",), ("--rag-system", "extractive"), ("-k", "nothing"),
                                  ("--rag-answers", "answers.jsonl")])  # fmt: skip
def test_sessions_that_ask_no_system_of_the_user_do_not_warn(
    project: Project, server: ProviderServer, args: tuple[str, ...]
) -> None:
    write_project(project, server, "localhost:1")
    project.file("answers.jsonl", "\n".join(f'{{"id": "q{n:02}", "answer": "Paris"}}' for n in range(4)))
    run = project.run("--rag-record-mode", "none", *args)
    assert run.status in (0, 5), run.text
    assert "not seen" not in run.text.replace("a dry run counts those", "") or "--rag-dry-run" in args
