"""A model of a user's fixture that the user's code asks: recorded, retried and charged."""

from __future__ import annotations

import pytest
from support.projects.model_projects import loaded, recordings, rows  # noqa: F401
from support.projects.rag_project import Mode, Project

CONFTEST = """
    import pytest
    from pytest_rageval.testing import ScriptedLLM

    @pytest.fixture(scope="{scope}")
    def rag_llm():
        {model}

    @pytest.fixture(scope="{scope}")
    def rag_system(rag_llm):
        async def answer(query):
            return (await rag_llm.complete([{{"role": "user", "content": query.question}}])).text
        return answer
"""
TEST = """
    import asyncio
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1"])
    def test_it(rag, rag_llm):
        {body}
"""
FILE = "cassettes/model-scripted.jsonl"
MODEL = 'llm = ScriptedLLM("Paris"); llm.name = "scripted"; {give} llm'


def overrides(project: Project, *, scope: str = "session", give: str = "return", body: str = "...") -> None:
    project.file("pytest.ini", "[pytest]")
    project.data(rows("a", "b", "c"))
    project.file("conftest.py", CONFTEST.format(scope=scope, model=MODEL.format(give=give)))
    project.file("test_it.py", TEST.format(body=body))


@pytest.mark.parametrize(
    ("scope", "give", "mode"),
    [("session", "return", ()), ("session", "return", ("-n2",)), ("module", "yield", ()), ("function", "yield", ())],
)
def test_calls_of_a_users_system_to_a_users_model_are_recorded_and_replayed(
    project: Project, scope: str, give: str, mode: Mode
) -> None:
    overrides(project, scope=scope, give=give)
    first = project.run("--rag-record-mode", "once", *mode)
    assert first.status == 0, first.text
    assert [o["calls"]["calls"] for o in first.results["outcomes"]] == [1, 1, 1]
    assert len(recordings(project, FILE)) == 3
    project.file("conftest.py", CONFTEST.format(scope=scope, model=MODEL.format(give=give).replace("Paris", "Rome")))
    again = project.run("--rag-record-mode", "none", *mode)
    assert again.status == 0, again.text
    assert [o["calls"]["replayed"] for o in again.results["outcomes"]] == [1, 1, 1]


def test_a_model_that_fails_once_is_retried(project: Project) -> None:
    overrides(project)
    project.file("conftest.py", """
        import pytest
        from pytest_rageval.errors import ModelError
        from pytest_rageval.testing import ScriptedLLM

        @pytest.fixture(scope="session")
        def rag_llm():
            return ScriptedLLM([ModelError("rate_limited", "too many", retry_after=0.01), "Paris", "Paris", "Paris"])

        @pytest.fixture(scope="session")
        def rag_system(rag_llm):
            async def answer(query):
                return (await rag_llm.complete([{"role": "user", "content": query.question}])).text
            return answer
    """)  # fmt: skip
    run = project.run("--rag-concurrency", "1")
    assert run.status == 0, run.text
    assert run.results["usage"]["attempts"] == 4


def test_a_test_can_read_the_requests_of_its_model(project: Project) -> None:
    overrides(project, body="assert len(rag_llm.requests) == 1, rag_llm.requests", scope="function")
    run = project.run()
    assert run.status == 0, run.text


def test_a_fixture_may_return_none_or_another_object(project: Project) -> None:
    project.file("pytest.ini", "[pytest]")
    project.file("test_it.py", """
        import pytest

        @pytest.fixture
        def rag_llm():
            return None

        @pytest.fixture
        def rag_judge():
            return "no model"

        def test_it(rag_llm, rag_judge):
            assert (rag_llm, rag_judge) == (None, "no model")
    """)  # fmt: skip
    run = project.run(json_path=None)
    assert run.status == 0, run.text


def test_a_model_fixture_that_returns_the_overridden_one_shares_its_client(project: Project) -> None:
    overrides(project)
    project.file("test_it.py", """
        import pytest
        from pytest_rageval import rag_case

        @pytest.fixture(scope="session")
        def rag_llm(rag_llm):
            return rag_llm

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_it(rag, rag_llm):
            assert type(rag_llm).__name__ == "Client"
            assert type(rag_llm._backend).__name__ == "ScriptedLLM"
    """)  # fmt: skip
    run = project.run()
    assert run.status == 0, run.text
    assert run.results["usage"]["calls"] == 3


def test_the_client_of_a_torn_down_fixture_is_released(project: Project) -> None:
    overrides(project, scope="function", give="yield", body="""
            from pytest_rageval.hooks.collect.keys import COLLECTED
            clients = request.config.stash[COLLECTED].models._clients
            assert len(clients) == 1, clients""")  # fmt: skip
    path = project.path / "test_it.py"
    path.write_text(path.read_text(encoding="utf-8").replace("rag, rag_llm", "rag, rag_llm, request"), encoding="utf-8")
    run = project.run()
    assert run.status == 0, run.text
