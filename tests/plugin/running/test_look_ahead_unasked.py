"""Tests that are deselected, skipped or fail in their setup are not asked ahead."""

from __future__ import annotations

import pytest
from support.projects.look_ahead_project import PLAIN, WATCHED, forget, paris, peak, questions
from support.projects.rag_project import Project, case

TWO_TESTBEDS = """
    import time
    import pytest
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_first(rag):
        time.sleep(0.01)

{second}
"""


def write_two_testbeds(project: Project, second: str, conftest: str = WATCHED, more: str = "") -> None:
    """Write a project with two testbeds; the second one asks about Rome."""
    project.data([case(f"r{number}", f"say Rome {number}", "Rome") for number in range(1, 9)], "rome.jsonl")
    project.says(paris(8), test=TWO_TESTBEDS.replace("{second}", second), conftest=conftest + more)


def rome_questions(project: Project) -> list[str]:
    """Return the questions about Rome that the system got."""
    return sorted(question for question in questions(project) if "Rome" in question)


CASE = '@rag_case("jsonl:rome.jsonl", metrics=["accuracy"])'

SKIPPED = {
    "skip": f"""
    @pytest.mark.skip
    {CASE}
    def test_second(rag): ...
""",
    "skipif": f"""
    @pytest.mark.skipif("True", reason="so")
    {CASE}
    def test_second(rag): ...
""",
    "xfail": f"""
    @pytest.mark.xfail(run=False)
    {CASE}
    def test_second(rag): ...
""",
    "function fixture": f"""
    @pytest.fixture
    def gate():
        pytest.skip("no")

    {CASE}
    def test_second(gate, rag): ...
""",
    "usefixtures": f"""
    @pytest.fixture
    def gate():
        pytest.skip("no")

    @pytest.mark.usefixtures("gate")
    class TestSecond:
        {CASE}
        def test_second(self, rag): ...
""",
    "autouse class fixture": f"""
    class TestSecond:
        @pytest.fixture(autouse=True, scope="class")
        def gate(self):
            pytest.skip("no")

        {CASE}
        def test_second(self, rag): ...
""",
    "setup_method": f"""
    class TestSecond:
        def setup_method(self):
            pytest.skip("no")

        {CASE}
        def test_second(self, rag): ...
""",
    "setup_class": f"""
    class TestSecond:
        @classmethod
        def setup_class(cls):
            pytest.skip("no")

        {CASE}
        def test_second(self, rag): ...
""",
    "session fixture": f"""
    @pytest.fixture(scope="session")
    def gate():
        pytest.skip("no")

    {CASE}
    def test_second(gate, rag): ...
""",
    "session fixture that fails": f"""
    @pytest.fixture(scope="session")
    def gate():
        raise OSError("no")

    {CASE}
    def test_second(gate, rag): ...
""",
    "parameter that skips": f"""
    @pytest.fixture(scope="module", params=[1, 2])
    def gate(request):
        pytest.skip("no")

    {CASE}
    def test_second(gate, rag): ...
""",
}  # fmt: skip


@pytest.mark.parametrize("how", SKIPPED)
def test_a_test_that_is_skipped_in_its_setup_is_not_asked(project: Project, how: str) -> None:
    write_two_testbeds(project, SKIPPED[how])
    run = project.run("--rag-concurrency", "8")
    counts = run.result.parseoutcomes()
    assert counts["passed"] == 8
    assert counts.get("skipped", 0) + counts.get("xfailed", 0) + counts.get("errors", 0) >= 8
    assert rome_questions(project) == []
    assert peak(project) > 1


def test_workers_do_not_ask_skipped_tests(project: Project) -> None:
    write_two_testbeds(project, SKIPPED["skip"] + SKIPPED["session fixture"].replace("test_second", "test_third"))
    run = project.run("-n2")
    assert run.result.parseoutcomes()["passed"] == 8
    assert rome_questions(project) == []


HOOKS = {
    "pytest_runtest_setup": """
    def pytest_runtest_setup(item):
        if "second" in item.nodeid:
            pytest.skip("no")
""",
    "pytest_fixture_setup": """
    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(request):
        if "second" in request.node.nodeid:
            pytest.skip("no")
""",
    "pytest_runtest_protocol": """
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item):
        return True if "second" in item.nodeid else None
""",
}


@pytest.mark.parametrize("hook", HOOKS)
def test_a_test_that_a_conftest_hook_skips_is_not_asked(project: Project, hook: str) -> None:
    write_two_testbeds(project, f"    {CASE}\n    def test_second(rag): ...\n", more=HOOKS[hook])
    run = project.run()
    assert run.result.parseoutcomes()["passed"] == 8
    assert rome_questions(project) == []


def test_a_deselected_case_is_not_asked(project: Project) -> None:
    deselect = """
    def pytest_collection_modifyitems(config, items):
        out = [item for item in items if item.name.endswith("[q3]")]
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]
    """
    write_two_testbeds(project, f"    {CASE}\n    def test_second(rag): ...\n", more=deselect)
    run = project.run("-k", "not q2", "--rag-limit", "4")
    assert run.status == 0
    assert questions(project) == dict.fromkeys(
        [*(f"say Paris {n}" for n in (1, 4, 5, 6)), *(f"say Rome {n}" for n in (1, 2, 3, 4))], 1
    )


HARMLESS = """
    @pytest.fixture(scope="session", autouse=True)
    def server():
        yield 1

    class TestThem:
        @pytest.fixture(scope="class")
        def shared(self):
            return 1

        @rag_case("jsonl:rome.jsonl", metrics=["accuracy"])
        def test_second(self, rag, server, shared, tmp_path, capsys, request, record_property): ...
"""


def test_active_fixtures_and_fixtures_of_pytest_do_not_prevent_look_ahead(project: Project) -> None:
    write_two_testbeds(project, HARMLESS)
    run = project.run("-k", "second")
    assert run.status == 0
    assert peak(project) == 8
    assert len(rome_questions(project)) == 8


OVERRIDDEN = {
    "rag_system": """
    @pytest.fixture
    def rag_system(request):
        async def answer(query):
            return request.node.name + await watched(query)
        return answer
""",
    "rag_llm": """
    @pytest.fixture
    def rag_llm(request):
        class Model:
            async def complete(self, messages, **params):
                from pytest_rageval import Completion, Query
                return Completion(request.node.name + await watched(Query("say Paris")))
        return Model()
""",
    "rag_retriever": """
    @pytest.fixture
    def rag_retriever(request):
        from pytest_rageval import Query, Ranking, ScoredPassage
        class Retriever:
            def search(self, question, k):
                reply(Query("say Paris"))
                return Ranking((ScoredPassage("d1", 1.0, request.node.name),))
        return Retriever()

    @pytest.fixture(scope="session")
    def rag_generator():
        async def generate(query):
            return query.passages[0].text + await watched(query)
        return generate
""",
}  # fmt: skip


@pytest.mark.parametrize("fixture", OVERRIDDEN)
@pytest.mark.parametrize("scope", ["function", "module"])
def test_answers_of_a_fixture_with_a_narrower_scope_do_not_overlap(project: Project, fixture: str, scope: str) -> None:
    override = OVERRIDDEN[fixture].replace("@pytest.fixture\n", f"@pytest.fixture(scope={scope!r})\n", 1)
    base = WATCHED.partition('    @pytest.fixture(scope="session")')[0]
    project.says(paris(6), conftest=base + override)
    run = project.run(*(["--rag-system", "closed_book"] if fixture == "rag_llm" else []))
    assert run.status == 0
    assert peak(project) == 1
    for outcome in run.results["outcomes"]:
        name = outcome["nodeid"].partition("::")[2] if scope == "function" else "test_it.py"
        assert outcome["answer"]["text"].startswith(name)


def test_answers_of_a_session_fixture_overlap(project: Project) -> None:
    project.says(paris(6), conftest=_slower(WATCHED))
    project.run()
    assert peak(project) == 6
    forget(project)
    project.file("conftest.py", _slower(PLAIN))
    project.run("--rag-concurrency", "6")
    assert peak(project) == 6


def _slower(conftest: str) -> str:
    """Return a system that is slow enough for all answers to overlap even on a busy machine."""
    return conftest.replace("else 0.02", "else 0.2")
