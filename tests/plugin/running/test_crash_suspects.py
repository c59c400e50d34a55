"""Suspects that run alone after a worker died: ordinary tests, hangs, and an early stop."""

from __future__ import annotations

import re

from support.projects.rag_project import Project, case, cases

SLEEPS = """
    import asyncio
    import os
    import time
    import pytest
    from pytest_rageval.hooks.reporting import suspect_reruns as reruns

    reruns.LIMIT_S = 20
    async def answer(query):
        if query.question == "exit" or (query.question == "hang" and not os.path.exists("died")):
            open("died", "w").close()
            os._exit(3)
        if query.question == "later":
            await asyncio.sleep(0.4)
            os._exit(3)
        if query.question == "hang":
            time.sleep(600)
        await asyncio.sleep(0.03)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""


def test_the_progress_of_a_session_whose_worker_died_ends_at_100_percent(project: Project) -> None:
    """The worker that replaces a dead one must not make xdist forget the gates and the resumed cases."""
    project.says([*cases(*["one"] * 6), case("q7", "exit")], "gates=['accuracy >= 0.5']", conftest=SLEEPS)
    for more in ((), ("--rag-resume",)):
        run = project.run("-n1", "-v", *more, fresh=not more)
        assert run.statuses["q7"] == "error", run.text
        progress = [int(percent) for percent in re.findall(r"\[ *(\d+)%\]", run.text)]
        assert (max(progress), progress[-1]) == (100, 100), run.text


def test_a_suspect_that_hangs_is_stopped_and_reported(project: Project) -> None:
    project.says([*cases("one", "two"), case("q3", "hang")], conftest=SLEEPS.replace("LIMIT_S = 20", "LIMIT_S = 4"))
    run = project.run("-n1")
    assert run.statuses == {"q1": "scored", "q2": "scored", "q3": "error"}, run.text
    assert "reported nothing for 4 s and was stopped" in run.outcomes["q3"]["error"]


def test_an_ordinary_test_is_not_blamed_for_a_case_in_flight(project: Project) -> None:
    test = """
        import time
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_first(rag): ...

        def test_plain():
            time.sleep(2)

        @rag_case("jsonl:more.jsonl", metrics=["accuracy"])
        def test_second(rag): ...
    """
    project.says(cases("one"), test=test, conftest=SLEEPS)
    project.data([case("late", "later"), *cases(*["two"] * 4)], "more.jsonl")
    run = project.run("-n1", "--dist", "worksteal", "-v")
    run.said("*PASSED test_it.py::test_plain*", "*6 passed, 1 error*")
    assert {name for name, status in run.statuses.items() if status == "error"} == {"late"}


def test_exitfirst_stops_the_session_after_a_suspect_that_fails_alone(project: Project) -> None:
    project.says(cases("exit", "exit", *["one"] * 4), conftest=SLEEPS)
    run = project.run("-n1", "--rag-concurrency=1", "-x")
    assert run.statuses == {"q1": "error", **{f"q{number}": "scored" for number in range(3, 7)}}, run.text
    run.said("*1 test in flight in 2 workers that died with exit code 3 did not run, because the session stopped: *q2*")
