"""Calls of fixtures and plain tests are counted, and their recordings count as used."""

from __future__ import annotations

import pytest
from support.projects.model_projects import KEY, asks, loaded, numbered, recordings, stop  # noqa: F401
from support.projects.rag_project import Mode, Project, case
from support.servers.openai_server import OpenAIServer

from pytest_rageval.cli import main

CONFTEST = """
    import asyncio
    import pytest
    from pytest_rageval import Passage, Ranking, ScoredPassage

    @pytest.fixture(scope="session")
    def rag_retriever(rag_embedder):
        asyncio.run(rag_embedder.embed(["Paris is the capital."]))

        class Dense:
            def search(self, question, k):
                (vector,) = asyncio.run(rag_embedder.embed([question])).vectors
                return Ranking((ScoredPassage("d1", float(vector[0]), "Paris is the capital."),))

        return Dense()
"""
PLAIN = """
    import asyncio

    def test_plain(rag_llm):
        asyncio.run(rag_llm.complete([{"role": "user", "content": "ping"}]))
"""


def write_project(project: Project, server: OpenAIServer) -> None:
    """Make a project that retrieves with vectors and asks a model; a plain test asks it once, too."""
    ini = ["rag_embedder_model = openai/e", "rag_embedder_params =", f"    api_base = {server.base_url}"]
    asks(project, server.base_url, [case(f"q{n}", f"Where is q{n}?") for n in range(4)], *ini, f"    api_key = {KEY}")
    project.file("conftest.py", CONFTEST)
    project.file("test_plain.py", PLAIN)


@pytest.mark.parametrize(("args", "workers"), [((), 1), (("-n2",), 2), (("-p", "no:xdist"), 1)])
def test_calls_outside_cases_are_counted_and_their_recordings_are_used(
    project: Project, openai_server: OpenAIServer, capsys: pytest.CaptureFixture[str], args: Mode, workers: int
) -> None:
    openai_server.reply = "Paris"
    write_project(project, openai_server)
    first = project.run("--rag-record-mode", "new_episodes", *args)
    assert first.status == 0, first.text
    calls = [outcome["calls"]["calls"] for outcome in first.results["outcomes"]]
    assert calls == [2, 2, 2, 2]  # one search and one answer
    assert 8 + 1 + 1 <= first.results["usage"]["calls"] <= 8 + 1 + workers
    capsys.readouterr()
    assert main(["cassettes", "prune"]) == 0
    assert "Removed 0 recordings that the run " in capsys.readouterr().out
    stop(openai_server)
    again = project.run("--rag-record-mode", "none", *args)
    assert again.status == 0, again.text
    assert again.results["usage"]["replayed"] == again.results["usage"]["calls"] >= 10


def test_each_test_in_a_shared_anyio_runner_is_charged_for_its_calls(
    project: Project, openai_server: OpenAIServer
) -> None:
    asks(project, openai_server.base_url, numbered(3))
    project.file("test_it.py", """
        import pytest
        from pytest_rageval import rag_case

        @pytest.fixture(scope="module")
        def anyio_backend():
            return "asyncio"

        @pytest.fixture(scope="module")
        async def opened():
            yield

        @pytest.mark.anyio
        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        async def test_it(rag, rag_llm, opened):
            await rag_llm.complete([{"role": "user", "content": f"more of {rag.case.id}"}])
    """)  # fmt: skip
    run = project.run("-p", "anyio")
    assert run.status == 0, run.text
    assert [outcome["calls"]["calls"] for outcome in run.results["outcomes"]] == [2, 2, 2]


def test_record_mode_once_holds_for_the_worker_that_replaces_a_crashed_one(
    project: Project, openai_server: OpenAIServer
) -> None:
    openai_server.delay_s = 0.02
    asks(project, openai_server.base_url, numbered(24), "rag_record_mode = once")
    project.file("test_it.py", """
        import os
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_it(rag):
            if rag.case.id == "q03":
                os._exit(1)
    """)  # fmt: skip
    run = project.run("-n1", "--rag-concurrency", "1")
    assert {o["error_type"] for o in run.results["outcomes"] if o["status"] == "error"} == {"worker_crashed"}
    assert list(run.statuses.values()).count("scored") == 23
