"""``rag_record_http`` records, replays, charges and bounds requests of a user's system."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.projects.model_projects import asks, loaded, numbered, recordings, rows  # noqa: F401
from support.projects.rag_project import Project
from support.servers.openai_server import OpenAIServer
from support.servers.provider_server import ProviderServer

import pytest_rageval.llm.http.aiohttp_session
import pytest_rageval.llm.http.http_recorder
import pytest_rageval.llm.http.httpx_transport
import pytest_rageval.llm.http.patches
import pytest_rageval.llm.http.urllib3_pool  # noqa: F401

FILE = "cassettes/http-127.0.0.1.jsonl"

SYSTEM = """
    import httpx
    import pytest

    ADDRESS = "{address}"

    def body(text):
        return {{"model": "gpt-4o-mini", "max_tokens": 4, "messages": [{{"role": "user", "content": text}}]}}

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            async with httpx.AsyncClient() as client:
                reply = await client.post(f"{{ADDRESS}}/chat/completions", json=body(query.question))
            reply.raise_for_status()
            return reply.json()["choices"][0]["message"]["content"]

        return answer
"""

SWALLOWS = """
    import httpx
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            try:
                return httpx.post("{address}/chat/completions", json={{"messages": [query.question]}}).text
            except BaseException:
                return "Paris"

        return answer
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["cost_usd <= 1"])
    def test_it(rag): ...
"""


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(say="It is in Paris.") as running:
        yield running


def write_project(project: Project, server: ProviderServer, *ini: str, system: str = SYSTEM, count: int = 6) -> None:
    """Make a project whose system asks the server, with more lines of the ini."""
    project.file("pytest.ini", "\n".join(["[pytest]", "rag_record_http = api.openai.com, 127.0.0.1:*", *ini]))
    project.file("conftest.py", system.format(address=server.base_url))
    project.data(numbered(count))
    project.file("test_it.py", TEST)


def test_recorded_requests_are_replayed_without_the_server(project: Project, server: ProviderServer) -> None:
    write_project(project, server, "rag_record_mode = once")
    first = project.run("-v")
    assert first.status == 0, first.text
    assert len(server.requests) == 6
    first.said("model calls: 6, 6 attempts * 18 + 24 tokens * cost *")
    server.requests.clear()
    again = project.run("-v", "-n2", "--rag-record-mode", "none")
    assert (again.status, server.requests) == (0, []), again.text
    again.said("model calls: 6 (6 replayed), 0 attempts *", "*spent now $0*")
    assert "(spent now $0)" in project.run("--rag-record-mode", "none").prose
    for case_id, outcome in again.outcomes.items():
        before = first.outcomes[case_id]["calls"]
        assert outcome["calls"] == {**before, "replayed": 1, "attempts": 0, "spent_usd": 0.0}
        assert outcome["answer"]["text"] == "It is in Paris."
        assert outcome["answer"]["usage"]["latency_s"] is None
    row = project.command("cassettes").stdout.splitlines()[1].split()
    assert row == ["http-127.0.0.1.jsonl", "6", "6", "0"]


def test_workers_record_the_same_bytes(project: Project, server: ProviderServer) -> None:
    write_project(project, server, "rag_record_mode = once", count=12)
    assert project.run().status == 0
    one_process = (project.path / FILE).read_bytes()
    (project.path / FILE).unlink()
    assert project.run("-n2").status == 0
    parallel_records, serial_records = (
        [json.loads(line) for line in text.splitlines()] for text in ((project.path / FILE).read_bytes(), one_process)
    )
    for record in (*parallel_records, *serial_records):
        del record["response"]["headers"]["x-request-id"]  # it differs for each request
    assert parallel_records == serial_records


def test_a_changed_prompt_is_an_error_and_the_case_can_be_recorded_again(
    project: Project, server: ProviderServer
) -> None:
    write_project(project, server, "rag_record_mode = none")
    assert project.run("--rag-record-mode", "once").status == 0
    cases = project.path / "cases.jsonl"
    cases.write_text(cases.read_text().replace("Where is q03?", "Where was q03?"))
    failing = project.run()
    assert (failing.status, len(server.requests)) == (1, 6)
    outcome = failing.outcomes["q03"]
    assert (outcome["status"], outcome["error_type"]) == ("error", "not_recorded")
    assert "the nearest recording differs in messages[0] (user):" in outcome["error"]
    diff = project.command("cassettes", "diff", "q03").stdout
    assert "+  Where was q03?" in diff
    assert "--rag-record-case q03" in diff
    assert "was recorded" in project.command("cassettes", "diff", "q01").stdout
    assert "unknown case 'q99'" in project.command("cassettes", "diff", "q99").stderr

    again = project.run("-v", "--rag-record-case", "q03")
    assert (again.status, len(server.requests)) == (0, 7), again.text
    again.said("model calls: 6 (5 replayed), 1 attempt *")
    assert (project.run().status, len(server.requests)) == (0, 7)


@pytest.mark.parametrize(
    ("mode", "case_id", "problem"),
    [
        ("none", "q99", "--rag-record-case: unknown case 'q99'"),
        (None, "q01", "--rag-record-case records into nothing; give --rag-record-mode or rag_record_mode too"),
    ],
)
def test_a_case_that_cannot_be_recorded_again_ends_the_session(
    mode: str | None, case_id: str, problem: str, project: Project, server: ProviderServer
) -> None:
    write_project(project, server, *([] if mode is None else [f"rag_record_mode = {mode}"]))
    run = project.run("--rag-record-case", case_id)
    assert (run.status, server.requests) == (pytest.ExitCode.USAGE_ERROR, [])
    assert problem in run.result.stderr.str()


def test_a_case_is_recorded_again_with_rag_record_case(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, numbered(3), "rag_record_mode = once")
    assert project.run().status == 0
    openai_server.reply = "Paris, again"
    assert project.run("--rag-record-mode", "none", "--rag-record-case", "q01").status == 0
    texts = sorted(record["response"]["text"] for record in recordings(project))
    assert (len(openai_server.requests), texts) == (4, ["Paris", "Paris", "Paris, again"])


def test_a_missing_recording_is_an_error_even_if_the_system_swallows_the_exception(
    project: Project, server: ProviderServer
) -> None:
    write_project(project, server, "rag_record_mode = none", system=SWALLOWS, count=2)
    run = project.run()
    assert {outcome["error_type"] for outcome in run.outcomes.values()} == {"not_recorded"}
    assert server.requests == []


IN_A_THREAD = """
    import threading
    import httpx
    import pytest

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            replies = ["Paris"]

            def ask():
                try:
                    replies[0] = httpx.post("{address}/chat/completions", json={{"messages": [query.question]}}).text
                except BaseException:
                    pass

            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
            return replies[0]

        return answer
"""


def test_a_missing_recording_in_a_thread_without_the_context_is_an_error(
    project: Project, server: ProviderServer
) -> None:
    write_project(project, server, "rag_record_mode = none", system=IN_A_THREAD)
    run = project.run()
    assert {outcome["error_type"] for outcome in run.outcomes.values()} == {"not_recorded"}
    assert server.requests == []


def test_a_budget_skips_cases_beyond_it(project: Project, server: ProviderServer) -> None:
    write_project(project, server, "rag_concurrency = 1")
    run = project.run("--rag-budget-usd", "0.00002")
    n_requests = len(server.requests)
    assert 0 < n_requests < 6
    statuses = [outcome["status"] for outcome in run.outcomes.values()]
    assert (statuses.count("scored"), statuses.count("skipped")) == (n_requests, 6 - n_requests)
    assert "your system's calls are not seen" not in run.text
    run.said("*raise --rag-budget-usd*")


def test_an_error_of_the_server_is_a_system_error_and_not_recorded(project: Project, server: ProviderServer) -> None:
    write_project(project, server, "rag_record_mode = once", count=1)
    server.status = 429
    run = project.run()
    assert run.outcomes["q00"]["error_type"] == "system_error"
    assert not (project.path / FILE).exists()


def test_calls_of_the_sessions_model_are_not_recorded_as_http_too(
    project: Project, openai_server: OpenAIServer
) -> None:
    openai_server.reply = "Paris"
    ini = ("rag_record_mode = once", "rag_record_http = 127.0.0.1:*")
    asks(project, openai_server.base_url, numbered(3), *ini)
    run = project.run("-v")
    assert run.status == 0
    assert sorted(path.name for path in (project.path / "cassettes").iterdir()) == ["model-openai--m.jsonl"]
    run.said("model calls: 3, 3 attempts *")


def test_requests_of_a_fixture_that_builds_an_index_are_recorded(project: Project, server: ProviderServer) -> None:
    system = (
        SYSTEM
        + """
    @pytest.fixture(scope="session", autouse=True)
    def index():
        httpx.post(f"{{ADDRESS}}/embeddings", json={{"model": "text-embedding-3-small", "input": ["a b"]}})
    """
    )
    write_project(project, server, "rag_record_mode = once", system=system, count=1)
    assert project.run().status == 0
    server.requests.clear()
    assert (project.run("--rag-record-mode", "none").status, server.requests) == (0, [])


@pytest.mark.parametrize("hosts", ["https://api.openai.com", "localhost"])
def test_a_malformed_host_ends_the_session(hosts: str, project: Project, server: ProviderServer) -> None:
    write_project(project, server)
    project.file("pytest.ini", f"[pytest]\nrag_record_http = {hosts}")
    run = project.run()
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert f"rag_record_http has {hosts!r}" in run.result.stderr.str() or "without a port" in run.result.stderr.str()


def test_a_session_undoes_its_patches_and_patches_nothing_without_hosts(
    project: Project, server: ProviderServer
) -> None:
    import httpx

    before = httpx.AsyncHTTPTransport.handle_async_request
    write_project(project, server, count=1)
    check = """
        import httpx

        def test_now():
            assert hasattr(httpx.AsyncHTTPTransport.handle_async_request, "__wrapped__") is {expected}
    """
    project.file("test_patched.py", check.format(expected=True))
    assert project.run().status == 0
    assert httpx.AsyncHTTPTransport.handle_async_request is before
    project.file("pytest.ini", "[pytest]")
    project.file("test_it.py", TEST.replace(', gates=["cost_usd <= 1"]', ""))
    project.file("test_patched.py", check.format(expected=False))
    assert project.run().status == 0


def test_recordings_contain_no_key(project: Project, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-geheim-0123456789")
    system = SYSTEM.replace(
        "httpx.AsyncClient()",
        'httpx.AsyncClient(headers={{"Authorization": "Bearer sk-geheim-0123456789", "x-api-key": "geheim1"}}, '
        'cookies={{"a": "geheim2"}}, params={{"key": "geheim3"}})',
    ).replace("query.question)", 'query.question + " sk-geheim-0123456789")')
    write_project(project, server, "rag_record_mode = once", system=system, count=1)
    server.say = "sk-geheim-0123456789"
    assert project.run().status in (0, 1)
    assert "geheim3" in server.requests[0][0]
    texts = [path.read_text() for path in Path(project.path).rglob("*.json*") if path.is_file()]
    assert texts
    assert "geheim" not in "".join(texts).replace("geheim_", "")
