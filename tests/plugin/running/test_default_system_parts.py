"""The parts of the default system: each can be overridden alone."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, case

CORPUS = """
    import pytest
    from pytest_rageval import Answer, Passage, Ranking, ScoredPassage

    @pytest.fixture(scope="session")
    def rag_corpus():
        return (
            Passage("d1", "The warranty of a kettle lasts two years.", "Warranty"),
            Passage("d2", "Parcels leave the warehouse on Mondays.", "Shipping"),
            Passage("d3", "Refunds take fourteen days.", "Refunds"),
        )
"""
CASES = [case("q1", "What is the warranty of a kettle?", "two years"), case("q2", "xyzzy?", "nothing")]


def test_the_corpus_is_searched_if_a_case_has_no_passages(project: Project) -> None:
    project.says(CASES, conftest=CORPUS)
    run = project.run()
    answer = run.outcomes["q1"]["answer"]
    assert "two years" in answer["text"]
    assert answer["ranking"][0]["doc_id"] == "d1"
    assert answer["ranking"][0]["text"] == "The warranty of a kettle lasts two years."
    assert [step["kind"] for step in answer["trace"]] == ["retrieve", "generate", "end"]
    assert run.outcomes["q2"]["answer"]["abstained"] is True
    assert run.outcomes["q1"]["system"] == "extractive"


def test_without_a_corpus_a_case_without_passages_is_an_error(project: Project) -> None:
    project.says(CASES[:1], conftest="")
    run = project.run()
    assert run.status == 1
    assert run.outcomes["q1"]["error_type"] == "no_passages"
    run.said("*rag_corpus*rag_retriever*")


def test_an_overridden_retriever_feeds_the_reader(project: Project) -> None:
    conftest = (
        CORPUS
        + """
    class Fixed:
        def search(self, query, k):
            return Ranking((ScoredPassage("mine", 1.0, "A kettle's warranty does last nine years."),))

    @pytest.fixture(scope="session")
    def rag_retriever(rag_corpus):
        assert len(rag_corpus) == 3
        return Fixed()
    """
    )
    project.says(CASES[:1], conftest=conftest)
    answer = project.run().outcomes["q1"]["answer"]
    assert [item["doc_id"] for item in answer["ranking"]] == ["mine"]
    assert "nine years" in answer["text"]


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_an_overridden_generator_gets_the_passages_of_bm25(project: Project, keyword: str) -> None:
    conftest = (
        CORPUS
        + """
    KEYWORD generate(query):
        return "read " + " ".join(p.id for p in query.passages)

    @pytest.fixture(scope="session")
    def rag_generator():
        return generate
    """
    )
    project.says(CASES[:1], conftest=conftest.replace("KEYWORD", keyword))
    project.file("pytest.ini", "[pytest]\nrag_top_k = 1\n")
    assert project.run().outcomes["q1"]["answer"]["text"] == "read d1"


def test_a_registered_retriever_and_system_can_be_named(project: Project) -> None:
    conftest = (
        CORPUS
        + """
    def pytest_rageval_register(registry):
        registry.systems.register("desk", lambda parts: lambda query: parts.retriever.search(query.question, 1)[0].text)
    """
    )
    project.says(CASES[:1], conftest=conftest)
    run = project.run("--rag-system", "desk")
    assert run.outcomes["q1"]["answer"]["text"] == "The warranty of a kettle lasts two years."
    assert run.outcomes["q1"]["system"] == run.outcomes["q1"]["facets"]["system"] == "desk"


def test_passages_of_the_case_come_before_the_corpus(project: Project) -> None:
    row = case("q1", "What is the warranty?", passages=[{"id": "p", "text": "The warranty is a day."}])
    project.says([row], conftest=CORPUS)
    outcome = project.run().outcomes["q1"]
    assert outcome["supplied"] == ["p"]
    assert outcome["answer"]["ranking"] is None
    assert "a day" in outcome["answer"]["text"]


def test_a_registered_retriever_is_named_in_the_ini(project: Project) -> None:
    conftest = """
        import pytest
        from pytest_rageval import Passage, Ranking, ScoredPassage

        class Last:
            def __init__(self, parts):
                self.passages = parts.passages

            def search(self, query, k):
                last = self.passages[-1]
                return Ranking((ScoredPassage(last.id, 1.0, last.text),))

        def pytest_rageval_register(registry):
            registry.retrievers.register("last", Last)

        @pytest.fixture(scope="session")
        def rag_corpus():
            return [Passage("d1", "The capital is Rome."), Passage("d2", "The capital is Paris.")]
    """
    rows = [{"id": "q1", "question": "What is the capital?", "answers": ["Paris"]}]
    project.says(rows, "gates=['accuracy >= 1']", conftest=conftest)
    project.file("pytest.ini", "[pytest]\nrag_retriever = last")
    run = project.run()
    assert run.status == 0
    assert [passage["doc_id"] for passage in run.outcomes["q1"]["answer"]["ranking"]] == ["d2"]
    project.file("pytest.ini", "[pytest]\nrag_retriever = lats")
    run = project.run()
    assert run.status == 4
    assert "rag_retriever: unknown retriever 'lats'; did you mean 'last'?" in run.result.stderr.str()


@pytest.mark.parametrize("quick", [False, True])
def test_only_a_quick_retriever_is_called_on_the_event_loop(project: Project, quick: bool) -> None:
    conftest = f"""
        import asyncio
        import pytest
        from pytest_rageval import Passage, Ranking, ScoredPassage
        from pytest_rageval.testing import ScriptedLLM

        class Shelf:
            in_place = {quick}

            def __init__(self, parts):
                self.passages = parts.passages

            def search(self, query, k):
                try:
                    asyncio.get_running_loop()
                    place = "loop"
                except RuntimeError:
                    place = "thread"
                return Ranking((ScoredPassage(place, 1.0, "The capital is Paris."),))

        def pytest_rageval_register(registry):
            registry.retrievers.register("shelf", Shelf)

        @pytest.fixture(scope="session")
        def rag_corpus():
            return [Passage("d1", "The capital is Rome.")]

        @pytest.fixture(scope="session")
        def rag_judge():
            return ScriptedLLM("answered")
    """
    rows = [{"id": f"q{n}", "question": "What is the capital?", "answers": ["Paris"]} for n in range(3)]
    project.says(rows, "gates=['rejection_rate_judged <= 1', 'accuracy >= 0']", conftest=conftest)
    project.file("pytest.ini", "[pytest]\nrag_retriever = shelf")
    run = project.run()
    assert {each["doc_id"] for o in run.results["outcomes"] for each in o["answer"]["ranking"]} == {
        "loop" if quick else "thread"
    }
