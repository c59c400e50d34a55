"""Sessions that stop early: finished cases are stored, and no gate decides on a part."""

from __future__ import annotations

import os
import signal
import time

import pytest
from support.projects.rag_project import RAISES, RIGHT, WRONG, Mode, Process, Project, case, cases

GATED = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:first.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.5"])
    def test_first(rag): ...

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.1", "error_rate <= 1"])
    def test_second(rag): ...
"""


@pytest.mark.parametrize("option", ["-x", "--maxfail=1", "--exitfirst"])
def test_gates_of_unfinished_testbeds_are_skipped_with_the_reason(project: Project, option: str) -> None:
    project.data([case("f1")], "first.jsonl")
    project.says(cases(RIGHT, RAISES, RIGHT), test=GATED)
    run = project.run("-rs", option)
    assert run.status == 1
    assert [gate["status"] for gate in run.results["gates"]] == ["passed", "skipped", "skipped"]
    reason = "1 of its cases did not run, because the session stopped early"
    assert [gate["reason"] for gate in run.results["gates"]] == [None, reason, reason]
    assert run.results["run"]["interrupted"] is False
    assert run.statuses == {"f1": "scored", "q1": "scored", "q2": "error"}
    run.said(f"*SKIPPED*{reason}*", "*1 not run*")


def test_gates_are_skipped_if_workers_stop_early(project: Project) -> None:
    project.data([case("f1")], "first.jsonl")
    project.says(cases(*[RAISES] * 12), test=GATED)
    run = project.run("-rs", "-x", "-n2")
    assert run.status == 2  # the status of xdist after an early stop
    assert run.results["run"]["interrupted"] is False
    assert [gate["status"] for gate in run.results["gates"]][1:] == ["skipped", "skipped"]
    run.said("*SKIPPED*did not run, because the session stopped early*")


def test_maxfail_counts_no_missed_case(project: Project) -> None:
    project.says(cases(WRONG, WRONG, WRONG), "gates=['accuracy <= 0.5']")
    run = project.run("--maxfail=1")
    assert run.status == 0
    assert len(run.outcomes) == 3


SLOW = """
    import time
    import pytest

    def slow(query):
        if query.question == "wait":
            open("waiting.txt", "w").close()
            time.sleep(60)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return slow
"""


def _start_hanging(project: Project, *args: str) -> Process:
    """Start pytest, and return once a case hangs in its system."""
    process = project.started(*args)
    for _ in range(600):
        if (project.path / "waiting.txt").exists():
            return process
        time.sleep(0.05)
    raise AssertionError((project.path / "output.txt").read_text())


@pytest.mark.parametrize("args", [(), ("-n2",), ("-p", "no:xdist")], ids=["plain", "n2", "no-xdist"])
def test_an_interrupt_stores_finished_cases_and_decides_no_gate(project: Project, args: Mode) -> None:
    project.data([case("f1"), case("f2")], "first.jsonl")
    project.says(cases(RIGHT, "wait", "wait"), test=GATED, conftest=SLOW)
    process = _start_hanging(project, "--rag-json", "results.json", *args)
    time.sleep(0.5 if args == ("-n2",) else 0.1)
    os.killpg(process.pid, signal.SIGINT)  # a terminal also sends it to workers
    assert process.wait(30) == 2
    results = project.read()
    assert results["run"]["interrupted"] is True
    assert {outcome["status"] for outcome in results["outcomes"]} == {"scored"}
    assert len(results["outcomes"]) >= 2
    assert [gate["status"] for gate in results["gates"]] == ["skipped"] * 3
    assert {gate["reason"] for gate in results["gates"]} == {"the session was interrupted"}
    assert "[gate: " not in (project.path / "output.txt").read_text()


def test_pytest_exit_is_an_interrupt(project: Project) -> None:
    project.says(cases(RIGHT, WRONG, RIGHT), "gates=['accuracy >= 0.1']")
    body = "        if rag.answer.text != 'Paris':\n            import pytest; pytest.exit('enough')\n"
    test = (project.path / "test_it.py").read_text().replace("    ...\n", body.replace("        ", "    ", 1))
    project.file("test_it.py", test)
    run = project.run()
    assert run.status == 2
    assert run.results["run"]["interrupted"] is True
    assert run.statuses == {"q1": "scored"}
    assert [gate["status"] for gate in run.results["gates"]] == ["skipped"]


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_killed_session_has_stored_every_finished_case(project: Project, args: Mode) -> None:
    project.data([case("f1")], "first.jsonl")
    project.says(cases(RIGHT, RIGHT, RIGHT, "wait", "wait"), test=GATED, conftest=SLOW)
    process = _start_hanging(project, *args)
    if args:
        time.sleep(0.5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)
    lines = project.lines()
    scored = {line["nodeid"] for line in lines if line["status"] == "scored"}
    if args:
        assert len(scored) >= 1
    else:
        names = [f"test_it.py::test_second[q{number}]" for number in (1, 2, 3)]
        assert scored == {"test_it.py::test_first[f1]", *names}
    assert project.stored_results() is None
