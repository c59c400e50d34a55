"""Embeddings of a user's system or test are charged to the case, recorded and replayed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import pytest
from support.projects.model_projects import (  # noqa: F401
    KEY,
    NO_PARAMS,
    Params,
    bodies,
    loaded,
    numbered,
    recordings,
    rows,
    stop,
)
from support.projects.rag_project import Mode, Project, Row
from support.servers.openai_server import Fault, OpenAIServer

from pytest_rageval.cli import main

FILE = "cassettes/embedding-openai--e.jsonl"
PRICE = {"input_cost_per_token": 0.5}

ASYNC = """
        async def answer(query):
            vectors = (await rag_embedder.embed([query.question, "Paris"])).vectors
            return "Paris" if len(vectors) == 2 and len(vectors[0]) == 8 else "?"
"""
SYNC = """
        def answer(query):
            vectors = asyncio.run(rag_embedder.embed([query.question, "Paris"])).vectors
            return "Paris" if len(vectors) == 2 and len(vectors[0]) == 8 else "?"
"""
OFFLINE = """
        def answer(query):
            return "Paris"
"""
CONFTEST = """
    import asyncio
    import pytest

    @pytest.fixture(scope="session")
    def rag_system(rag_embedder):
{system}
        return answer
"""
WATCHES = """
    import sys

    connected = []
    sys.addaudithook(lambda event, args: connected.append(args[1]) if event == "socket.connect" else None)

    def pytest_unconfigure(config):
        heavy = {"litellm", "openai", "httpx", "aiohttp"} & set(sys.modules)
        print(f"loaded: {sorted(heavy)}, connected: {connected}")
"""


def write_project(
    project: Project,
    base_url: str,
    records: Sequence[Row],
    *ini: str,
    system: str = ASYNC,
    body: str = "...",
    params: Params = NO_PARAMS,
) -> None:
    """Make a project whose system embeds its questions at an address, and whose test runs ``body``."""
    embedder_params = {"api_base": base_url, "api_key": KEY, **params}
    lines = ["[pytest]", "rag_embedder_model = openai/e", "rag_embedder_params ="]
    lines += [f"    {name} = {value}" for name, value in embedder_params.items()]
    project.file("pytest.ini", "\n".join([*lines, *ini]))
    project.data(records)
    project.file("conftest.py", CONFTEST.replace("{system}", system.strip("\n")))
    project.file("test_it.py", f"""
        import asyncio
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1"])
        def test_it(rag, rag_embedder):
            {body}
    """)  # fmt: skip


def expected_calls(calls: int, words: int) -> dict[str, object]:
    """Return the usage of a case; each word is a token and costs half a dollar."""
    return {
        "calls": calls, "replayed": 0, "attempts": calls, "prompt_tokens": words, "completion_tokens": 0,
        "cost_usd": words / 2, "spent_usd": words / 2,
    }  # fmt: skip


def test_a_system_is_charged_for_its_embeddings(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.delay_s = 0.1
    write_project(project, openai_server.base_url, numbered(8), params=PRICE)
    run = project.run("-v")
    assert run.status == 0, run.text
    assert [outcome["calls"] for outcome in run.results["outcomes"]] == [expected_calls(1, 4)] * 8
    assert openai_server.peak > 1  # ahead of their tests
    assert all(body.keys() - {"encoding_format"} == {"input", "model"} for body in bodies(openai_server))
    run.said("model calls: 8, 8 attempts · 32 + 0 tokens · cost $16.0000")


@pytest.mark.parametrize(
    ("system", "args"),
    [(ASYNC, ("--rag-concurrency", "1")), (SYNC, ()), (SYNC, ("--rag-concurrency", "4"))],
    ids=["async in turn", "sync in turn", "sync in threads"],
)
def test_sync_systems_are_charged_in_turn_and_in_threads(
    project: Project, openai_server: OpenAIServer, system: str, args: tuple[str, ...]
) -> None:
    openai_server.delay_s = 0.02
    write_project(project, openai_server.base_url, numbered(8), system=system, params=PRICE)
    run = project.run(*args)
    assert run.status == 0, run.text
    assert [outcome["calls"] for outcome in run.results["outcomes"]] == [expected_calls(1, 4)] * 8
    assert len(openai_server.requests) == 8
    assert (openai_server.peak > 1) is (args == ("--rag-concurrency", "4"))


def test_a_test_is_charged_for_its_own_embeddings(project: Project, openai_server: OpenAIServer, mode: Mode) -> None:
    openai_server.delay_s = 0.1
    body = 'assert asyncio.run(rag_embedder.embed([rag.answer.text, "at last"])).vectors'
    write_project(project, openai_server.base_url, numbered(6), body=body, params=PRICE)
    run = project.run("-v", *mode)
    assert run.status == 0, run.text
    assert [outcome["calls"] for outcome in run.results["outcomes"]] == [expected_calls(2, 7)] * 6
    assert run.results["usage"]["calls"] == len(openai_server.requests) == 12
    assert openai_server.peak > 1
    assert all(body.keys() - {"encoding_format"} == {"input", "model"} for body in bodies(openai_server))
    run.said("model calls: 12, 12 attempts · 42 + 0 tokens · cost $21.0000")


def test_a_failed_call_is_retried_and_counts_once(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.plan = lambda number, body: Fault("status", 429, 0) if number <= 2 else None
    write_project(project, openai_server.base_url, rows("a"), params=PRICE)
    run = project.run()
    assert run.status == 0, run.text
    assert run.outcomes["a"]["calls"] == {**expected_calls(1, 4), "attempts": 3}
    assert len(openai_server.requests) == 3


def test_a_bad_key_stops_the_session(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.plan = lambda number, body: Fault("status", 401)
    write_project(project, openai_server.base_url, numbered(20))
    run = project.run("--rag-concurrency", "2")
    assert run.status == 1
    assert 1 <= len(openai_server.requests) <= 2  # at most one per slot
    assert {o["error_type"] for o in run.results["outcomes"] if o["status"] == "error"} == {"auth"}
    assert "the model openai/e refused the credentials, or has none" in run.text


def test_embeddings_are_recorded_once_and_replayed_without_litellm_or_a_network(
    project: Project, openai_server: OpenAIServer
) -> None:
    openai_server.vectors = lambda texts: [[len(text) / 3, -1e-17, 0.1, 2.0, 5.0, 6.0, 7.0, 8.0] for text in texts]
    write_project(project, openai_server.base_url, numbered(4), "rag_record_mode = none", params=PRICE)
    first = project.run("--rag-record-mode", "once", "--rag-repeat", "2")
    assert first.status == 0, first.text
    assert os.listdir(project.path / "cassettes") == ["embedding-openai--e.jsonl"]
    before = (project.path / FILE).read_bytes()
    records = recordings(project, FILE)
    assert sorted((record["messages"][0], record["repeat"]) for record in records) == [
        (f"Where is q0{number}?", repeat) for number in range(4) for repeat in (1, 2)
    ]
    assert {json.dumps(record["params"]) for record in records} == {"{}"}
    assert records[0]["response"]["vectors"] == [
        list(openai_server.vectors([text])[0]) for text in records[0]["messages"]
    ]
    assert KEY not in before.decode()
    assert "127.0.0.1" not in before.decode()

    assert project.run("--rag-record-mode", "all", "--rag-repeat", "2").status == 0
    assert (len(openai_server.requests), (project.path / FILE).read_bytes()) == (16, before)

    stop(openai_server)
    with (project.path / "conftest.py").open("a", encoding="utf-8") as stream:
        stream.write("\n".join(line.removeprefix("    ") for line in WATCHES.split("\n")))
    again = project.run(forked=True)
    assert again.status == 0, again.text
    again.said("loaded: [[]], connected: [[]]*")
    replayed = {**expected_calls(1, 4), "replayed": 1, "attempts": 0, "spent_usd": 0.0}
    assert [outcome["calls"] for outcome in again.results["outcomes"]] == [replayed] * 4
    assert [outcome["answer"]["usage"]["latency_s"] for outcome in again.results["outcomes"]] == [None] * 4


def test_a_missing_recording_shows_the_nearest_texts_and_the_command_lists_texts(
    project: Project, openai_server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(project, openai_server.base_url, rows("Orsay", "Rome"), "rag_record_mode = none")
    assert project.run("--rag-record-mode", "once").status == 0
    stop(openai_server)
    project.data(rows("Louvre", "Rome"))
    run = project.run()
    assert run.statuses == {"Louvre": "error", "Rome": "scored"}
    error = run.outcomes["Louvre"]
    assert (error["error_type"], error["calls"]["calls"]) == ("not_recorded", 0)
    assert "?\n+  Where is Louvre?\n" in error["error"]
    assert "vectors" not in error["error"]
    capsys.readouterr()
    assert main(["cassettes", "--unused"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(' repeat 1: ["Where is Orsay?", "Paris"]')


def test_a_budget_counts_embeddings(project: Project, openai_server: OpenAIServer) -> None:
    write_project(project, openai_server.base_url, numbered(4), params=PRICE)
    run = project.run("--rag-budget-usd", "10", "--rag-budget-partial", "--rag-concurrency", "1")
    assert 1 <= len(openai_server.requests) < 4
    assert sorted(run.statuses.values())[-1] == "skipped"
    assert run.results["usage"]["spent_usd"] == 2.0 * len(openai_server.requests)
    openai_server.requests.clear()
    write_project(project, openai_server.base_url, rows("a"))
    error = project.run("--rag-budget-usd", "10", "--rag-budget-partial").outcomes["a"]["error"]
    assert error.endswith("because the price of openai/e is unknown; give input_cost_per_token in rag_embedder_params")
    assert not openai_server.requests


REGISTERED = """
    import pytest
    from pytest_rageval import Embeddings, Usage

    class Mine:
        name = "mine"

        async def {method}(self, texts, **params):
            assert params == {{}}
            return Embeddings([[1, 2]] * len(texts), Usage(len(texts), 0, 0.25))

    @pytest.fixture(scope="session")
    def rag_embedder():
        return Mine()

    def pytest_rageval_register(registry):
        registry.systems.register("mine", lambda parts: Own(parts.embedder))

    class Own:
        def __init__(self, embedder):
            self.embedder = embedder

        async def __call__(self, query):
            return "Paris" if (await self.embedder.embed([query.question])).vectors == ((1.0, 2.0),) else "?"
"""


def test_calls_of_an_overridden_embedder_are_recorded_and_charged(project: Project, mode: Mode) -> None:
    write_project(project, "http://127.0.0.1:9/v1", numbered(4), "rag_record_mode = once", "rag_system = mine")
    project.file("conftest.py", REGISTERED.format(method="embed"))
    args = (*mode, *(("-o", "rag_embedder_model=") if "-n2" in mode else ()))  # workers would load litellm for it
    first, again = project.run(*args), project.run(*args, "--rag-record-mode", "none")
    assert (first.status, again.status) == (0, 0), first.text + again.text
    assert [(o["calls"]["calls"], o["calls"]["cost_usd"]) for o in first.results["outcomes"]] == [(1, 0.25)] * 4
    assert [outcome["calls"]["replayed"] for outcome in again.results["outcomes"]] == [1] * 4
    assert os.listdir(project.path / "cassettes") == ["embedding-mine.jsonl"]


def test_an_overridden_fixture_that_returns_no_embedder_is_one_error(project: Project) -> None:
    write_project(project, "http://127.0.0.1:9/v1", numbered(2), "rag_system = mine")
    project.file("conftest.py", REGISTERED.format(method="embed_all"))
    run = project.run()
    assert sorted(run.statuses.values()) == ["error", "skipped"]
    assert "rag_embedder gave <conftest.Mine object" in run.text
    assert "; give an object with `async def embed(texts, **params)`" in run.text


def test_without_a_model_the_embedder_is_none(project: Project) -> None:
    write_project(project, "http://127.0.0.1:9/v1", rows("a"), system=OFFLINE, body="assert rag_embedder is None")
    run = project.run("-o", "rag_embedder_model=")
    assert run.status == 0, run.text


@pytest.mark.parametrize(("record_mode", "modules"), [("new_episodes", "*'httpx'*"), ("none", "[[]], *")])
def test_httpx_is_loaded_only_if_embeddings_may_be_requested(project: Project, record_mode: str, modules: str) -> None:
    write_project(project, "http://127.0.0.1:9/v1", rows("a"), f"rag_record_mode = {record_mode}", system=OFFLINE)
    with (project.path / "conftest.py").open("a", encoding="utf-8") as stream:
        stream.write("\n".join(line.removeprefix("    ") for line in WATCHES.split("\n")))
    run = project.run(subprocess=True)
    assert run.status == 0, run.text
    run.said(f"loaded: {modules}")
