"""A search server as the retriever of a session: results, recordings, replays, usage errors."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from support.projects.rag_project import Project, Row, cases, mode  # noqa: F401
from support.servers.openai_server import Fault, OpenAIServer
from support.servers.search_server import SearchServer, osmem

VISIT = [
    {"_id": "visit", "text": "The museum opens at 9:00.", "name": "Visit", "part": "guide"},
    {"_id": "shop", "text": "The shop closes at 18:00.", "name": "Shop", "part": "guide"},
]
INI = """
[pytest]
rag_retriever = opensearch
rag_retriever_params =
    url_env = SEARCH_URL
    index = passages
"""
TEST = """
from pytest_rageval import rag_case

@rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1"])
def test_it(rag):
    assert rag.answer.ranking.doc_ids[0] == "visit"
"""
ROWS: list[Row] = [{"id": "q1", "question": "What opens at 9:00?", "answers": ["the museum"]}]


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    with osmem(passages=VISIT) as url:
        yield url


@pytest.fixture
def search_server(upstream: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SearchServer]:
    """Return a server that forwards searches to osmem; its address is in SEARCH_URL."""
    with SearchServer(upstream=upstream) as server:
        monkeypatch.setenv("SEARCH_URL", server.url)
        yield server


def write_project(project: Project, *lines: str, rows: list[Row] = ROWS) -> None:
    params = [line for line in lines if not line.startswith("rag_")]
    settings = [line for line in lines if line.startswith("rag_")]
    project.file("pytest.ini", INI.rstrip() + "".join(f"\n    {line}" for line in params) + "\n" + "\n".join(settings))
    project.data(rows)
    project.file("test_it.py", TEST)


def refusal(project: Project) -> str:
    """Return the one sentence that refuses the run."""
    run = project.run()
    assert run.status == pytest.ExitCode.USAGE_ERROR
    (error,) = run.result.stderr.str().strip().splitlines()
    return error


def test_a_session_searches_records_and_replays_without_the_server(
    project: Project,
    mode: tuple[str, ...],  # noqa: F811
    search_server: SearchServer,
) -> None:
    write_project(project, "title_field = name", "page_field = part", "rag_record_mode = once")
    live = project.run()
    assert (live.status, len(search_server.requests)) == (0, 1)
    search_server.plan = lambda number, body: Fault("reset")
    replayed = project.run("--rag-record-mode=none", *mode)
    assert (replayed.status, len(search_server.requests)) == (0, 1)
    assert live.outcomes["q1"]["answer"]["ranking"] == replayed.outcomes["q1"]["answer"]["ranking"]
    assert live.outcomes["q1"]["answer"]["ranking"][0] == {
        "doc_id": "visit", "score": pytest.approx(1.1, abs=1), "text": "The museum opens at 9:00.", "title": "Visit",
        "page": "guide",
    }  # fmt: skip
    assert live.outcomes["q1"]["calls"]["calls"] == 0  # a search is not a model call
    live_step, replayed_step = (run.outcomes["q1"]["answer"]["trace"][0] for run in (live, replayed))
    assert live_step["detail"].pop("seconds") > 0
    assert live_step == replayed_step == {"kind": "retrieve", "detail": {"retriever": "opensearch/passages"}}
    project.data([{**ROWS[0], "question": "Which museum opens?"}])
    missing = project.run("--rag-record-mode=none").outcomes["q1"]
    assert missing["error_type"] == "not_recorded"
    assert "no reply of search '127.0.0.1:" in missing["error"]
    assert len(search_server.requests) == 1


def test_sixteen_cases_search_at_once(project: Project, search_server: SearchServer) -> None:
    write_project(project, rows=cases(*[f"What opens at {hour}:00?" for hour in range(32)]))
    search_server.delay_s = 0.1
    project.run()
    assert (search_server.peak, len(search_server.requests)) == (16, 32)


def test_a_login_that_is_refused_ends_the_session_with_one_sentence(
    project: Project, search_server: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_LOGIN", "elastic:battery-staple")
    write_project(project, "auth_env = SEARCH_LOGIN", rows=cases(*[f"What opens at {hour}:00?" for hour in range(40)]))
    search_server.plan = lambda number, body: Fault("status", 401)
    run = project.run("--rag-concurrency=1")
    assert (run.status, len(search_server.requests)) == (1, 1)
    (error,) = {each["error"] for each in run.results["outcomes"] if each["status"] == "error"}
    assert "/passages asks for a login, or refused the credentials; set auth_env" in error
    assert "no call can succeed: the search server 127.0.0.1:" in run.text
    assert "battery" not in run.text


def test_credentials_that_a_document_holds_are_masked(
    project: Project, search_server: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEARCH_LOGIN", "museum:opens")  # whatever the name of the variable
    write_project(project, "auth_env = SEARCH_LOGIN", "rag_record_mode = once")
    project.data([{**ROWS[0], "question": "What museum:opens at 9:00?"}])
    project.run()
    (cassette,) = (project.path / "cassettes").glob("search-*.jsonl")
    assert "What <SEARCH_LOGIN> at 9:00?" in cassette.read_text()
    assert search_server.bodies[0]["query"]["match"]["text"] == "What museum:opens at 9:00?"
    assert "museum:opens" not in (project.path / "results.json").read_text()


def test_a_field_that_no_document_has_is_a_warning(project: Project, search_server: SearchServer) -> None:
    write_project(project, rows=cases(*[f"What opens at {hour}:00?" for hour in range(3)]))
    ini = project.path / "pytest.ini"
    ini.write_text(ini.read_text() + "    text_field = txt\n")
    run = project.run()
    assert "warning: none of 3 searches of 127.0.0.1:" in run.prose
    assert "found anything; check text_field, filter and query" in run.prose


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("auth_env = SEARCH_LOGIN", "auth_env = 'SEARCH_LOGIN', but the environment has no such variable; set it to u"),
        ("query = knn.json", 'a query with "{vector}", and no model embeds the questions; set rag_embedder_model'),
    ],
)
def test_a_setting_that_cannot_work_is_refused_before_any_test_runs(
    project: Project, search_server: SearchServer, line: str, sentence: str
) -> None:
    write_project(project, line)
    project.file("knn.json", '{"query": {"knn": {"v": {"vector": "{vector}", "k": "{k}"}}}}')
    assert sentence in refusal(project)
    assert not search_server.requests


def test_a_missing_address_is_reported_in_one_sentence(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEARCH_URL", raising=False)
    write_project(project)
    message = (
        "rag_retriever_params has url_env = 'SEARCH_URL', but the environment has no such variable; set it to https:"
    )
    assert refusal(project).startswith(f"ERROR: {message}")


@pytest.mark.parametrize("by_fixture", [False, True])
def test_the_sessions_model_embeds_the_questions(
    project: Project, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, by_fixture: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    openai_server.vectors = lambda texts: [[0.1, 0.9] for _ in texts]
    model = ["rag_embedder_model = openai/embeddings", f"rag_embedder_params = api_base = {openai_server.base_url}"]
    if by_fixture:
        model = []
        project.file(
            "conftest.py",
            """
            import pytest
            from pytest_rageval import Embeddings, Usage

            class Mine:
                async def embed(self, texts, **params):
                    return Embeddings([[0.1, 0.9]] * len(texts), Usage(0, 0, 0.0))

            @pytest.fixture(scope="session")
            def rag_embedder():
                return Mine()
            """,
        )
    write_project(project, "query = knn.json", "rag_record_mode = once", *model)
    project.file("knn.json", json.dumps({"query": {"knn": {"v": {"vector": "{vector}", "k": "{k}"}}}}))
    documents = {"shop": ([1.0, 0.0], str(VISIT[1]["text"])), "visit": ([0.0, 1.0], str(VISIT[0]["text"]))}
    with SearchServer(documents=documents) as server:
        monkeypatch.setenv("SEARCH_URL", server.url)
        assert project.run().status == 0
        assert server.bodies[0]["query"]["knn"]["v"] == {"vector": [0.1, 0.9], "k": 5}
    assert project.run("--rag-record-mode=none").status == 0
