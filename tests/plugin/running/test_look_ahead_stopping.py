"""A session that stops early cancels answers asked ahead and counts their cost."""

from __future__ import annotations

import os
import signal
import time

import pytest
from support.projects.look_ahead_project import WATCHED, forget, notes, paris, peak, questions
from support.projects.model_projects import asks, numbered
from support.projects.rag_project import RUNS, Mode, Project, case
from support.servers.openai_server import Fault, OpenAIServer

WITH_USAGE = WATCHED.replace("else rest", "else Answer(rest, usage=Usage(10, 2, 0.5))")
"""The watched system, with the usage in each answer."""


@pytest.mark.parametrize("option", ["-x", "--maxfail=2"])
def test_maxfail_stops_at_the_same_test_with_look_ahead(project: Project, option: str) -> None:
    rows = [*paris(3), case("bad1", "raise one"), *paris(4, 4), case("bad2", "raise two"), *paris(120, 10)]
    project.says(rows, "gates=['accuracy >= 0.5']", conftest=WITH_USAGE)
    serial = project.run(option, "--rag-concurrency", "1")
    forget(project)
    run = project.run(option)
    assert run.status == serial.status == 1
    assert run.result.parseoutcomes() == serial.result.parseoutcomes()
    assert run.results["outcomes"] != []
    assert run.statuses == serial.statuses
    assert [gate["status"] for gate in run.results["gates"]] == ["skipped"]
    requests, answers = questions(project), questions(project, "ended")
    assert set(requests.values()) == {1}
    assert len(requests) < len(rows)
    cancelled = questions(project, "cancelled")
    assert len(cancelled) <= 16
    assert sum(requests.values()) == sum(answers.values()) + sum(cancelled.values()) + 2  # two raise


def test_unused_answers_asked_ahead_are_counted(project: Project) -> None:
    project.says([case("bad", "raise one"), *paris(40)], conftest=WITH_USAGE)
    run = project.run("-x")
    ended = len(notes(project, "ended"))
    assert 1 <= ended <= 40
    assert run.statuses == {"bad": "error"}
    usage = run.results["usage"]
    assert (usage["calls"], usage["attempts"], usage["replayed"]) == (ended, ended, 0)
    sums = usage | usage.get("at_least", {})  # a call in flight is not in the sums
    assert (sums["prompt_tokens"], sums["completion_tokens"]) == (10 * ended, 2 * ended)
    assert sums["cost_usd"] == sums["spent_usd"] == pytest.approx(0.5 * ended)


SCRIPTED = """
    import pytest
    from pytest_rageval import Usage
    from pytest_rageval.errors import ModelError
    from pytest_rageval.testing import ScriptedLLM

    def reply(messages):
        with open("calls.txt", "a") as stream:
            stream.write("x")
        if "bad" in messages[-1]["content"]:
            return ModelError("bad_request", "no")
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_llm():
        return ScriptedLLM(reply, usage=Usage(10, 2, 0.5), delay_s=0.02)
"""


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_unused_model_calls_are_counted(project: Project, args: Mode) -> None:
    rows = [case(f"bad{number}", f"bad {number}") for number in range(2)]
    project.says([*rows, *paris(60)], conftest=SCRIPTED)
    run = project.run("-x", "--rag-system", "closed_book", "--rag-concurrency", "8", *args)
    assert run.status == (2 if args else 1)
    n_calls = len((project.path / "calls.txt").read_text())
    usage = run.results["usage"]
    assert usage["calls"] == usage["attempts"] == n_calls
    assert n_calls < 62
    n_reported = sum(outcome["calls"]["calls"] for outcome in run.results["outcomes"])
    assert n_reported < n_calls


def _interrupt_hanging(project: Project, *args: str, count: int, ended: int = 0) -> None:
    """Start pytest, interrupt it once ``count`` answers hang and ``ended`` cases are stored, and wait for its end."""
    process = project.started("--rag-json", "results.json", *args)
    for _ in range(600):
        stored = sum(path.read_bytes().count(b"\n") for path in project.path.glob(".rageval/runs/*/outcomes.jsonl"))
        if stored >= ended and sum(note.question.startswith("hang") for note in notes(project)) >= count:
            break
        time.sleep(0.02)
    else:
        process.kill()
        raise AssertionError((project.path / "output.txt").read_text())
    time.sleep(0.3 if "-n2" in args else 0.1)
    start = time.perf_counter()
    os.killpg(process.pid, signal.SIGINT)
    status = process.wait(30)
    seconds = time.perf_counter() - start
    assert status == 2, (project.path / "output.txt").read_text()
    assert seconds < 4
    assert "never awaited" not in (project.path / "output.txt").read_text()


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_an_interrupt_cancels_calls_in_flight(project: Project, args: Mode) -> None:
    rows = [*paris(4), *(case(f"h{number}", f"hang {number}") for number in range(20))]
    project.says(rows, conftest=WITH_USAGE)
    _interrupt_hanging(project, *args, count=2, ended=0 if args else 4)
    hanging = {note.question for note in notes(project) if note.question.startswith("hang")}
    assert {note.question for note in notes(project, "cancelled")} == hanging
    results = project.read()
    assert results["run"]["interrupted"] is True
    assert {outcome["status"] for outcome in results["outcomes"]} <= {"scored"}
    if not args:
        assert len(results["outcomes"]) == 4
        assert results["usage"]["calls"] == 4


def test_an_interrupt_does_not_wait_for_the_threads_of_a_sync_system(project: Project) -> None:
    rows = [case(f"h{number}", f"hang {number}") for number in range(6)]
    project.says(rows, conftest=WITH_USAGE.replace("return watched", "return plain"))
    _interrupt_hanging(project, "--rag-concurrency", "3", count=3)
    assert peak(project) <= 4  # one hanging thread was replaced


@pytest.mark.parametrize(
    "args", [("-p", "no:xdist"), ("-n2",), ("--rag-concurrency", "2")], ids=["no-xdist", "n2", "two"]
)
def test_an_answer_that_hangs_fails_its_own_test_only(project: Project, args: Mode) -> None:
    rows = [*paris(2), case("h1", "hang 1"), *paris(3, 3), case("h2", "hang 2"), case("h3", "hang 3"), *paris(5, 6)]
    project.says(rows, "gates=['accuracy >= 1']", conftest=WATCHED)
    run = project.run("--timeout", "0.4", *args)
    assert {name for name, status in run.statuses.items() if status == "error"} == {"h1", "h2", "h3"}
    for name in ("h1", "h2", "h3"):
        assert "Timeout" in run.outcomes[name]["error"]
    assert [gate["status"] for gate in run.results["gates"]] == ["passed"]
    assert questions(project, "cancelled") == {"hang 1": 1, "hang 2": 1, "hang 3": 1}
    assert set(questions(project).values()) == {1}


def test_a_thread_that_hangs_holds_up_no_other_test(project: Project) -> None:
    rows = [case("h1", "hang 1"), case("h2", "hang 2"), *paris(6)]
    project.says(rows, conftest=WATCHED.replace("return watched", "return plain"))
    start = time.perf_counter()
    run = project.run("--timeout", "0.5", "--rag-concurrency", "2", forked=True)
    assert time.perf_counter() - start < 10
    assert {name for name, status in run.statuses.items() if status == "error"} == {"h1", "h2"}
    assert [status for name, status in run.statuses.items() if name[0] == "q"] == ["scored"] * 6


def test_pytest_exit_cancels_calls_in_flight(project: Project) -> None:
    test = RUNS.replace("...", "import pytest; pytest.exit('enough')")
    project.says(
        [case("q1", "say Paris 0"), *(case(f"h{n}", f"hang {n}") for n in range(5))], test=test, conftest=WATCHED
    )
    run = project.run()
    assert run.status == 2
    assert len(notes(project, "cancelled")) == 5


def test_an_interrupt_starts_no_call_that_waits_for_a_slot(project: Project, openai_server: OpenAIServer) -> None:
    """The slot of the answer that the running test waits for does not go to the next call."""
    openai_server.plan = lambda number, body: Fault("hang")
    asks(project, openai_server.base_url, numbered(60), "rag_system = closed_book")
    process = project.started("--rag-concurrency", "16", "--rag-json", "results.json")
    deadline = time.monotonic() + 60
    while openai_server.in_flight < 16 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(30) == 2, (project.path / "output.txt").read_text()
    assert len(openai_server.requests) == 16
    assert project.read()["usage"]["on_their_way"] == 16
