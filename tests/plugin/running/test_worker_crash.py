"""A case that ends its worker's process: it is the only error, and all others are scored."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from support.projects.rag_project import RIGHT, Mode, Project, case, cases

CRASHES = """
    import os
    import pytest

    def crash(query):
        if query.question == "crash":
            os._exit(3)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return crash
"""
GATES = "gates=['error_rate <= 0.5', 'error_rate <= 0', 'n >= 1']"


ANSWERS = """
    import asyncio
    import os
    import signal
    import pytest

    async def answer(query):
        if query.question == "exit":
            os._exit(3)
        if query.question == "signal":
            os.kill(os.getpid(), signal.SIGSEGV)
        await asyncio.sleep(0.03)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""


def _check_crash(outcome: Any) -> None:
    assert (outcome["status"], outcome["error_type"]) == ("error", "worker_crashed")
    assert outcome["error"] == "its process died with exit code 3 when the case ran alone"
    assert outcome["facets"]["dataset"] == "cases"
    assert outcome["facets"]["topic"] == "Funds"
    assert outcome["facets"]["system"] == outcome["system"] == "rag_system"
    assert outcome["scores"] == {}


EXIT, SIGNAL = "with exit code 3", "with signal SIGSEGV"


@pytest.mark.parametrize(
    ("dist", "culprits"),
    [
        ("load", {"q6": EXIT}),
        ("worksteal", {"q6": EXIT, "q15": SIGNAL}),
        ("loadfile", {"q15": SIGNAL}),
        ("loadscope", {"q6": EXIT}),
        ("loadgroup", {"q6": EXIT, "q15": EXIT}),
    ],
)
def test_only_the_crashing_cases_of_those_in_flight_are_errors(
    project: Project, dist: str, culprits: dict[str, str]
) -> None:
    questions = {f"q{number}": f"question {number}" for number in range(1, 25)}
    questions |= {name: "exit" if how == EXIT else "signal" for name, how in culprits.items()}
    gates = f"gates=['accuracy >= 1', 'n >= {24 - len(culprits)}']"
    project.says([case(name, question) for name, question in questions.items()], gates, conftest=ANSWERS)
    run = project.run("-n2", "--dist", dist, "--rag-concurrency=4", "--junitxml=junit.xml")
    assert run.status == 1, run.text
    assert {o["case_id"]: o["error"] for o in run.results["outcomes"] if o["status"] == "error"} == {
        name: f"its process died {how} when the case ran alone" for name, how in culprits.items()
    }
    assert list(run.statuses.values()).count("scored") == 24 - len(culprits)
    assert [gate["status"] for gate in run.results["gates"]] == [
        "passed",
        "passed",
    ]  # decided after the cases that ran alone
    run.said("*tests in flight in * that died*: each runs again with nothing else in flight*")
    suite = ElementTree.fromstring((project.path / "junit.xml").read_text(encoding="utf-8"))[0]  # noqa: S314 - ours
    assert (suite.get("tests"), suite.get("errors")) == ("26", str(len(culprits)))
    assert len(suite.findall("testcase")) == 26


BETWEEN_TWO_TESTS = """
    import threading
    import time

    between = threading.Event()

    async def exits_between(query):
        if query.question == "exit":
            await asyncio.to_thread(between.wait, 1.0)  # alone, no other test ends before it
            os._exit(3)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return exits_between

    def pytest_sessionstart(session):
        for plugin in session.config.pluginmanager.get_plugins():
            if hasattr(plugin, "sendevent"):
                send = plugin.sendevent

                def send_slowly(name, **arguments):
                    send(name, **arguments)
                    if name == "runtest_protocol_complete":
                        time.sleep(0.2)  # the next test has its answer and has not started
                        between.set()
                        time.sleep(0.2)

                plugin.sendevent = send_slowly
"""


@pytest.mark.parametrize("dist", ["load", "worksteal", "loadfile", "loadgroup"])
def test_a_test_answered_ahead_is_not_lost_when_its_worker_dies_before_it_begins(project: Project, dist: str) -> None:
    questions = ["question", "question", "exit", "question"]
    project.says(cases(*questions), "gates=['n >= 3']", conftest=ANSWERS + BETWEEN_TWO_TESTS)
    run = project.run("-n1", "--dist", dist, "--rag-concurrency=4")
    assert run.statuses == {"q1": "scored", "q2": "scored", "q3": "error", "q4": "scored"}, run.text
    assert run.gates["n >= 3"]["status"] == "passed"


@pytest.mark.parametrize("at", [0, 4])
def test_the_case_of_a_dead_worker_is_an_error(project: Project, at: int) -> None:
    questions = [RIGHT] * 6
    questions[at] = "crash"
    project.says(cases(*questions, topic="Funds"), GATES, conftest=CRASHES)
    run = project.run("-n2")
    assert run.status == 1
    _check_crash(run.outcomes.pop(f"q{at + 1}"))
    assert sorted(run.statuses.values()) == ["error", *["scored"] * 5]
    assert run.gates["error_rate <= 0.5"]["value"] == pytest.approx(1 / 6)
    assert [gate["status"] for gate in run.results["gates"]] == ["passed", "failed", "passed"]
    assert [outcome["case_id"] for outcome in run.results["outcomes"]] == [f"q{n}" for n in range(1, 7)]


@pytest.mark.parametrize("args", [("-n1",), ("-n1", "--max-worker-restart=0"), ("-n2", "--max-worker-restart=0")])
def test_a_session_whose_only_case_crashes_reports_it(project: Project, args: Mode) -> None:
    project.says([case("q1", "crash", topic="Funds")], GATES, conftest=CRASHES)
    run = project.run(*args)
    assert run.status == 1
    _check_crash(run.outcomes["q1"])
    assert run.gates["error_rate <= 0"]["status"] == "failed"
    assert run.gates["error_rate <= 0.5"]["status"] == "failed"


def test_without_a_restart_the_tests_that_did_not_run_are_reported(project: Project) -> None:
    project.says(cases("crash", *[RIGHT] * 9, topic="Funds"), GATES, conftest=CRASHES)
    run = project.run("-n1", "--max-worker-restart=0", "-rs")
    assert run.status == 1
    _check_crash(run.outcomes["q1"])
    assert {gate["status"] for gate in run.results["gates"]} == {"skipped"}
    run.said("*9 of its cases did not run*", "*9 not run*")


DIES_BETWEEN = """
    def pytest_runtest_logfinish(nodeid):
        if "PYTEST_XDIST_WORKER" in os.environ and "q2" in nodeid and not os.path.exists("died"):
            open("died", "w").close()
            os._exit(3)
"""


def test_a_test_that_has_ended_does_not_run_again(project: Project) -> None:
    project.says(cases(*[RIGHT] * 8), "gates=['n >= 8']", conftest=ANSWERS + DIES_BETWEEN)
    run = project.run("-n1", "--dist=loadfile", "--rag-concurrency=4")
    assert (project.path / "died").exists()
    assert run.result.parseoutcomes()["passed"] == 9  # eight cases and a gate


def test_a_crash_after_the_answer_leaves_the_case_scored(project: Project) -> None:
    test = """
        import os
        import pytest
        from pytest_rageval import rag_case

        @pytest.fixture
        def dies():
            yield
            os._exit(3)

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_it(rag, dies): ...
    """
    project.says(cases(RIGHT), test=test)
    run = project.run("-n1", "--max-worker-restart=0")
    assert run.status == 1
    assert run.statuses == {"q1": "scored"}


def test_a_rerun_after_a_crash_replaces_the_crashed_outcome(project: Project) -> None:
    once = CRASHES.replace(
        'if query.question == "crash":', 'if not os.path.exists("crashed"):\n            open("crashed", "w")'
    )
    project.says(cases("crash", RIGHT, topic="Funds"), GATES, conftest=once)
    run = project.run("-n1", "--reruns", "2")
    assert run.statuses == {"q1": "scored", "q2": "scored"}


def test_a_crash_in_a_project_without_cases_leaves_no_folder(project: Project) -> None:
    project.file("test_plain.py", "import os\n\ndef test_dies():\n    os._exit(3)\n")
    run = project.run("-n1", "--max-worker-restart=0", json_path=None)
    assert run.status == 1
    assert not (project.path / ".rageval").exists()
