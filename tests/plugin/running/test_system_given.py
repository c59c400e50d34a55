"""The system under test: any sync or async callable that returns a str or an Answer."""

from __future__ import annotations

import json

import pytest
from support.projects.rag_project import RUNS, Mode, Project, case, cases

SHAPES = {
    "function": "def answer(query):\n    return 'Paris'\n\nSYSTEM = answer",
    "lambda": "SYSTEM = lambda query: 'Paris'",
    "bound method": "class Desk:\n    def answer(self, query):\n        return 'Paris'\n\nSYSTEM = Desk().answer",
    "object": "class Desk:\n    def __call__(self, query):\n        return 'Paris'\n\nSYSTEM = Desk()",
    "async function": "async def answer(query):\n    await asyncio.sleep(0)\n    return 'Paris'\n\nSYSTEM = answer",
    "async object": "class Desk:\n    async def __call__(self, query):\n        return 'Paris'\n\nSYSTEM = Desk()",
    "async bound method": "class Desk:\n    async def go(self, query):\n        return 'Paris'\n\nSYSTEM = Desk().go",
    "partial": "def answer(text, query):\n    return text\n\nSYSTEM = partial(answer, 'Paris')",
    "async partial": "async def answer(text, query):\n    return text\n\nSYSTEM = partial(answer, 'Paris')",
    "wrapped async": "async def answer(query):\n    return 'Paris'\n\nSYSTEM = lambda query: answer(query)",
    "Answer": "SYSTEM = lambda query: Answer('Paris', abstained=False, usage=Usage(3, 4, 0.5))",
    "text of its own type": "class Text(str): pass\n\nSYSTEM = lambda query: Text('Paris')",
}

CONFTEST = """
import asyncio
from functools import partial
import pytest
from pytest_rageval import Answer, Usage

{system}

@pytest.fixture(scope="session")
def rag_system():
    return SYSTEM
"""


@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_of_callable_can_be_the_system(project: Project, shape: str) -> None:
    project.says(cases("?", "?"), conftest=CONFTEST.replace("{system}", SHAPES[shape]))
    run = project.run()
    assert run.status == 0
    for outcome in run.results["outcomes"]:
        assert outcome["status"] == "scored"
        assert outcome["answer"]["text"] == "Paris"
        assert outcome["scores"]["accuracy"] == {"value": 1.0}
        assert outcome["answer"]["usage"]["latency_s"] > 0


def test_results_have_all_fields_of_an_answer(project: Project) -> None:
    conftest = """
        import pytest
        from pytest_rageval import Answer, Ranking, ScoredPassage, Step, Usage

        def answer(query):
            return Answer(
                "Paris",
                ranking=Ranking((ScoredPassage("d1", 2.5, "Paris is it.", "France"), ScoredPassage("d2"))),
                abstained=False,
                trace=(Step("tool", {"name": "map", "hits": 2}),),
                usage=Usage(3, 4, 0.25, 1.5),
            )

        @pytest.fixture(scope="session")
        def rag_system():
            return answer
    """
    project.says(cases("?"), conftest=conftest)
    run = project.run()
    assert run.outcomes["q1"]["answer"] == {
        "text": "Paris",
        "abstained": False,
        "ranking": [
            {"doc_id": "d1", "score": 2.5, "text": "Paris is it.", "title": "France"},
            {"doc_id": "d2", "score": None},
        ],
        "trace": [
            {"kind": "tool", "detail": {"name": "map", "hits": 2}},
            {"kind": "end", "detail": {"reason": "finished"}},
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "cost_usd": 0.25, "latency_s": 1.5},
    }
    assert run.results["usage"] == {
        "calls": 1, "replayed": 0, "attempts": 1, "prompt_tokens": 3, "completion_tokens": 4, "cost_usd": 0.25,
        "spent_usd": 0.25,
    }  # fmt: skip


def test_the_query_has_the_fields_of_the_case(project: Project) -> None:
    conftest = """
        import json
        import pytest

        def answer(query):
            return json.dumps([query.question, [p.id for p in query.passages], [p.role for p in query.passages],
                               query.history[0].answer, query.language])

        @pytest.fixture(scope="session")
        def rag_system():
            return answer
    """
    passages = [{"id": "d1", "text": "one", "role": "positive"}, {"id": "d2", "text": "two", "role": "negative"}]
    row = case("q1", "which?", passages=passages, history=[{"question": "who?", "answer": "them"}], language="zh")
    project.says([row], conftest=conftest)
    run = project.run()
    answer = run.outcomes["q1"]["answer"]["text"]
    assert json.loads(answer) == ["which?", ["d1", "d2"], ["", ""], "them", "zh"]
    assert run.outcomes["q1"]["supplied"] == ["d1", "d2"]


def test_a_session_system_is_built_once_per_process(project: Project, mode: Mode) -> None:
    conftest = """
        import os
        import pytest

        @pytest.fixture(scope="session")
        def rag_system():
            with open("built.txt", "a") as stream:
                stream.write(f"{os.getpid()}\\n")
            return lambda query: str(os.getpid())
    """
    test = RUNS + RUNS.replace("test_it", "test_again")
    project.says(cases("?", "?", "?", "?"), test=test, conftest=conftest)
    run = project.run(*mode)
    built_by = (project.path / "built.txt").read_text().split()
    answered_by = {outcome["answer"]["text"] for outcome in run.results["outcomes"]}
    assert len(run.results["outcomes"]) == 8
    assert len(built_by) == len(set(built_by))
    assert set(built_by) == answered_by
    assert len(built_by) == (2 if "-n2" in mode else 1)


def test_a_function_scoped_system_is_built_for_each_case(project: Project) -> None:
    conftest = """
        import itertools
        import pytest

        COUNT = itertools.count()

        @pytest.fixture
        def rag_system(request, tmp_path):
            built = next(COUNT)
            return lambda query: f"{request.node.name} {built} {tmp_path.name}"
    """
    project.says(cases("?", "?"), conftest=conftest)
    run = project.run()
    texts = [outcome["answer"]["text"] for outcome in run.results["outcomes"]]
    assert texts[0].startswith("test_it[q1] 0 test_it_q1_")
    assert texts[1].startswith("test_it[q2] 1 test_it_q2_")


def test_each_folder_may_have_its_own_system(project: Project) -> None:
    project.data(cases("?"))
    for folder, city in (("one", "Paris"), ("two", "Rome")):
        fixture = f"@pytest.fixture(scope='session')\ndef rag_system():\n    return lambda query: {city!r}\n"
        project.file(f"{folder}/conftest.py", "import pytest\n\n" + fixture)
        project.file(f"{folder}/test_{folder}.py", RUNS.replace("{arguments}", ""))
    run = project.run()
    texts = {outcome["nodeid"].partition("/")[0]: outcome["answer"]["text"] for outcome in run.results["outcomes"]}
    assert texts == {"one": "Paris", "two": "Rome"}


def test_a_system_may_be_a_parameter_of_the_test(project: Project) -> None:
    test = """
        import pytest
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_params(rag_system, rag):
            assert rag.answer.text == rag_system(None)
    """
    conftest = """
        import pytest

        @pytest.fixture(scope="session", params=["Paris", "Rome"])
        def rag_system(request):
            return lambda query: request.param
    """
    project.says(cases("?", "?"), test=test, conftest=conftest)
    run = project.run()
    assert run.status == 0
    assert sorted(outcome["answer"]["text"] for outcome in run.results["outcomes"]) == ["Paris"] * 2 + ["Rome"] * 2


def test_async_answers_share_one_event_loop(project: Project) -> None:
    conftest = """
        import asyncio
        import threading
        import pytest

        async def answer(query):
            return f"{id(asyncio.get_running_loop())} {threading.current_thread() is threading.main_thread()}"

        @pytest.fixture(scope="session")
        def rag_system():
            return answer
    """
    project.says(cases("?", "?", "?"), conftest=conftest)
    texts = {outcome["answer"]["text"] for outcome in project.run().results["outcomes"]}
    assert len(texts) == 1
    assert texts.pop().endswith("False")
