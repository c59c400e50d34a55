"""Failing systems give the same results with look-ahead, and no thread or task stays behind."""

from __future__ import annotations

import threading

import pytest
from support.projects.look_ahead_project import PLAIN, WATCHED, forget, paris, peak, questions
from support.projects.rag_project import MODES, Mode, Project, bare, case

FAULTY = {
    "raises": [*paris(3), case("bad", "raise it"), *paris(10, 4)],
    "wrong type": [*paris(3), case("bad", "wrong"), *paris(10, 4)],
    "wrong type twice": [case("bad1", "wrong"), *paris(3), case("bad2", "wrong 2")],
    "wrong type from the start": [*(case(f"bad{at}", "wrong") for at in range(4)), *paris(3)],
    "exits": [*paris(3), case("bad", "exit"), *paris(3, 4)],
    "raises a BaseException": [*paris(3), case("bad", "base"), *paris(3, 4)],
    "cancels itself": [*paris(3), case("bad", "cancel"), *paris(3, 4)],
}

ODD = WATCHED.replace(
    "    async def watched(query):",
    """
    async def watched(query):
        if query.question == "exit":
            raise SystemExit(3)
        if query.question == "cancel":
            raise asyncio.CancelledError
        if query.question == "base":
            raise type("Stop", (BaseException,), {})("stop")
        return await really(query)

    async def really(query):""",
)


@pytest.mark.parametrize("fault", FAULTY)
def test_faults_give_the_same_results_with_and_without_look_ahead(project: Project, fault: str) -> None:
    project.says(FAULTY[fault], "gates=['accuracy >= 0.5', 'error_rate <= 0.5']", conftest=ODD)
    serial = project.run("--rag-concurrency", "1")
    ahead = project.run()
    assert peak(project) > 1
    assert bare(ahead.results) == bare(serial.results)
    assert ahead.result.parseoutcomes() == serial.result.parseoutcomes()
    assert ahead.status == serial.status == 1


@pytest.mark.parametrize("mode", [MODES["plain"], MODES["n2"]], ids=["plain", "n2"])
def test_a_broken_system_is_not_asked_after_three_wrong_answers(project: Project, mode: Mode) -> None:
    project.says([case(f"bad{at}", "wrong") for at in range(6)] + paris(12), conftest=WATCHED)
    run = project.run(*mode)
    assert run.outcomes["bad0"]["error_type"] == "system_contract"
    skipped = [outcome for outcome in run.results["outcomes"] if outcome["status"] == "skipped"]
    assert skipped
    for outcome in skipped:
        assert outcome["error_type"] == "not_asked"
        assert "'rag_system' returned int 7" in outcome["error"]
    assert "-n2" in mode or len(skipped) == 15


FLAKY = """
    import asyncio
    import pytest

    tries = {}

    async def flaky(query):
        tries[query.question] = tries.get(query.question, 0) + 1
        await asyncio.sleep(0.01)
        if tries[query.question] == 1 and query.question.endswith(("2", "5")):
            raise ConnectionError("try again")
        return "Paris" if tries[query.question] == 1 + query.question.endswith(("2", "5")) else "too often"

    @pytest.fixture(scope="session")
    def rag_system():
        return flaky
"""


@pytest.mark.parametrize("mode", [MODES["no-xdist"], MODES["n2"]], ids=["no-xdist", "n2"])
def test_a_rerun_asks_the_system_again(project: Project, mode: Mode) -> None:
    project.says(paris(9), "gates=['accuracy >= 1', 'error_rate <= 0']", conftest=FLAKY)
    run = project.run("--reruns", "1", *mode)
    assert run.status == 0
    assert set(run.statuses.values()) == {"scored"}
    assert run.result.parseoutcomes()["rerun"] == 2


@pytest.mark.parametrize(("system", "end"), [("async", "-x"), ("async", "exit"), ("threads", "all"), ("threads", "-x")])
def test_no_thread_or_task_stays_after_the_session(project: Project, system: str, end: str) -> None:
    rows = [*paris(5), *([] if end == "all" else [case("bad", "raise it")]), *paris(60, 10)]
    writes_threads = """
    import threading

    def pytest_unconfigure(config):
        with open("threads.txt", "w") as stream:
            stream.write(" ".join(thread.name for thread in threading.enumerate() if "rageval" in thread.name))
    """
    project.says(rows, conftest=(WATCHED if system == "async" else PLAIN) + writes_threads)
    if end == "exit":
        stop = "def pytest_runtest_logreport(report):\n    report.failed and pytest.exit('enough', 0)\n"
        with (project.path / "conftest.py").open("a") as stream:
            stream.write(stop)
    args = ("-x",) if end == "-x" else ()
    strict = ("-W", "error", "-X", "dev")
    result = project.pytester.run(
        "python",
        *strict,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--rag-concurrency",
        "8",
        *args,
    )
    assert result.ret == {"all": 0, "-x": 1, "exit": 0}[end]
    assert peak(project) == 8
    for word in (
        "never awaited",
        "ResourceWarning",
        "never retrieved",
        "was destroyed",
        "Traceback",
        "Exception ignored",
    ):
        assert word not in result.stdout.str() + result.stderr.str()
    assert (project.path / "threads.txt").read_text() == ""


def test_a_session_in_this_process_leaves_no_thread(project: Project) -> None:
    before = set(threading.enumerate())
    project.says(paris(20), conftest=PLAIN)
    assert project.run("--rag-concurrency", "4").status == 0
    new_threads = set(threading.enumerate()) - before
    for thread in new_threads:
        if thread.name == "rageval-system":
            thread.join(5)
    assert [thread.name for thread in new_threads if "rageval" in thread.name and thread.is_alive()] == []
    forget(project)
    assert project.run("--rag-concurrency", "4").status == 0  # and another can follow
    assert set(questions(project).values()) == {1}


def test_pytest_current_test_stays_set_until_the_session_ends(project: Project) -> None:
    project.file(
        "conftest.py",
        """
        import os
        import pytest
        flags = []

        @pytest.fixture(scope="session")
        def rag_system():
            return lambda query: "Paris"

        def pytest_runtest_logfinish():
            flags.append("PYTEST_CURRENT_TEST" in os.environ)

        def pytest_unconfigure():
            print("flags", set(flags), "PYTEST_CURRENT_TEST" in os.environ)
        """,
    )
    project.data(paris(2))
    project.file(
        "test_it.py",
        """
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_it(rag): ...
        """,
    )
    run = project.run("-s")
    assert "flags {True} False" in run.text
