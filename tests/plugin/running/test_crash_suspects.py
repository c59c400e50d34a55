"""What runs alone after a worker died: ordinary tests, tests that hang, and what ends the session meanwhile."""

from __future__ import annotations

import pytest
from rag_project import Mode, Project, case, cases

SLEEPS = """
    import asyncio
    import os
    import time
    import pytest
    from pytest_rageval.hooks import alone

    alone.LIMIT_S = 20
    asked = set()

    async def answer(query):
        if query.question == "exit" or (query.question == "hang" and not os.path.exists("died")):
            open("died", "w").close()
            os._exit(3)
        if query.question == "hang":
            time.sleep(600)
        await asyncio.sleep(0.03)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""


def test_one_that_hangs_alone_is_stopped_and_told(project: Project) -> None:
    project.says([*cases("one", "two"), case("q3", "hang")], conftest=SLEEPS)
    run = project.run("-n1", subprocess=True)
    assert run.statuses == {"q1": "scored", "q2": "scored", "q3": "error"}, run.text
    assert "reported nothing for 20 s and was stopped" in run.outcomes["q3"]["error"]


def test_an_ordinary_test_is_not_blamed_for_a_case_in_flight(project: Project) -> None:
    test = """
        import time
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], limit=1)
        def test_first(rag): ...

        def test_plain():
            time.sleep(0.5)

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], sample=3)
        def test_second(rag): ...
    """
    project.says(cases("one", "exit", "two"), test=test, conftest=SLEEPS)
    run = project.run("-n1", "-v", subprocess=True)
    run.said("*PASSED test_it.py::test_plain*", "*3 passed, 1 error*")


@pytest.mark.parametrize(
    ("args", "left"),
    [(("-x",), "*9 not run*"), (("--max-worker-restart=0",), "*9 not run*")],
)
def test_a_session_that_stops_keeps_the_verdict(project: Project, args: Mode, left: str) -> None:
    project.says(cases("exit", "exit", *["one"] * 9), "gates=['n >= 1']", conftest=SLEEPS)
    run = project.run("-n1", "--rag-concurrency=2", *args, subprocess=True)
    assert run.status in (1, 2), run.text
    assert "error" in run.statuses.values()
