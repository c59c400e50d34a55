"""User retrievers that are functions instead of objects with ``search``."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, case

CASES = [case("q1", "What is the warranty of a kettle?", "two years")]
CONFTEST = """
    import pytest

    TEXTS = ["The warranty of a kettle lasts two years.", "Refunds take fourteen days."]

    KEYWORD find(query, k):
        BODY

    @pytest.fixture(scope="session")
    def rag_retriever():
        return find
"""


def conftest(keyword: str, body: str) -> str:
    return CONFTEST.replace("KEYWORD", keyword).replace("BODY", body)


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_a_function_is_a_retriever(project: Project, keyword: str) -> None:
    body = 'return [{"id": f"d{k}", "text": TEXTS[0], "title": query}, TEXTS[1]]'
    project.says(CASES, "gates=['accuracy >= 1']", conftest=conftest(keyword, body))
    project.file("test_own.py", "def test_own(rag_retriever):\n    assert rag_retriever.__name__ == 'find'")
    run = project.run()
    assert run.status == 0
    answer = run.outcomes["q1"]["answer"]
    first, second = answer["ranking"]
    assert first["doc_id"] == "d5"
    assert second["text"] == "Refunds take fourteen days."
    assert [step["kind"] for step in answer["trace"]] == ["retrieve", "generate", "end"]


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_an_exception_is_reported_with_the_name_of_its_source(project: Project, keyword: str) -> None:
    project.says(CASES, conftest=conftest(keyword, "raise OSError('no route to the index')"))
    outcome = project.run().outcomes["q1"]
    assert outcome["error_type"] == "system_error"
    first, *frames = outcome["error"].splitlines()
    error = "RetrieverError: rag_retriever 'find' raised OSError: no route to the index"
    assert first == f"system 'rag_system' failed on case 'q1': {error}"
    assert "conftest.py:6 in find: raise OSError" in frames[-1]


def test_an_invalid_retriever_is_reported_in_one_sentence(project: Project) -> None:
    project.says(
        CASES, conftest="import pytest\n@pytest.fixture(scope='session')\ndef rag_retriever():\n    return 3\n"
    )
    outcome = project.run().outcomes["q1"]
    assert outcome["error_type"] == "system_build"
    assert "rag_retriever gave int 3; give an object with search(query, k)" in outcome["error"]
    assert "\n" not in outcome["error"]


def test_the_overridden_system_fixture_can_return_the_default_system(project: Project) -> None:
    more = """
    @pytest.fixture(scope="session")
    def rag_system(rag_system):
        return rag_system
    """
    project.says(CASES, conftest=conftest("def", "return TEXTS") + more)
    assert "two years" in project.run().outcomes["q1"]["answer"]["text"]


def test_a_registered_retriever_may_be_a_plain_function(project: Project) -> None:
    project.says(
        CASES,
        conftest="""
    def pytest_rageval_register(registry):
        registry.retrievers.register("first", lambda parts: lambda query: [parts.passages[0]])
    """,
    )
    project.file("pytest.ini", "[pytest]\nrag_retriever = first\nrag_corpus = corpus.txt")
    project.file("corpus.txt", "The warranty of a kettle lasts two years.")
    assert [item["doc_id"] for item in project.run().outcomes["q1"]["answer"]["ranking"]] == ["corpus.txt"]


def test_a_registered_async_retriever_works_with_a_replayed_model(project: Project) -> None:
    project.says(
        CASES,
        conftest="""
    import asyncio
    import pytest
    from pytest_rageval.testing import ScriptedLLM

    async def find(query):
        await asyncio.sleep(0.001)
        return ["The warranty of a kettle lasts two years."]

    def pytest_rageval_register(registry):
        registry.retrievers.register("late", lambda parts: find)

    @pytest.fixture(scope="session")
    def rag_llm():
        return ScriptedLLM("two years")
    """,
    )
    project.file("pytest.ini", "[pytest]\nrag_retriever = late\nrag_corpus = corpus.txt")
    project.file("corpus.txt", "Not asked for.")
    for record in ("once", "none"):
        run = project.run("--rag-record-mode", record)
        assert run.outcomes["q1"]["error"] is None
        assert run.outcomes["q1"]["answer"]["text"] == "two years"
