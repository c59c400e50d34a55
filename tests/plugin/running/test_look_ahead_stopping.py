"""A session that stops early cancels what it has asked ahead, counts what that cost, and ends as it would without."""

from __future__ import annotations

import os
import signal
import time

import pytest
from support.projects.look_ahead_project import WATCHED, forget, notes, paris, peak, questions
from support.projects.model_projects import asks, numbered
from support.projects.rag_project import RUNS, Mode, Project, case
from support.servers.openai_server import Fault, OpenAIServer

USED = WATCHED.replace("else rest", "else Answer(rest, usage=Usage(10, 2, 0.5))")
"""The same, and its answers say what they took."""


@pytest.mark.parametrize("option", ["-x", "--maxfail=2"])
def test_maxfail_stops_at_the_same_test_with_look_ahead(project: Project, option: str) -> None:
    rows = [*paris(3), case("bad1", "raise one"), *paris(4, 4), case("bad2", "raise two"), *paris(120, 10)]
    project.says(rows, "gates=['accuracy >= 0.5']", conftest=USED)
    serial = project.run(option, "--rag-concurrency", "1")
    forget(project)
    run = project.run(option)
    assert run.status == serial.status == 1
    assert run.result.parseoutcomes() == serial.result.parseoutcomes()
    assert run.results["outcomes"] != []
    assert run.statuses == serial.statuses
    assert [gate["status"] for gate in run.results["gates"]] == ["skipped"]
    asked, ended = questions(project), questions(project, "ended")
    assert set(asked.values()) == {1}
    assert len(asked) < len(rows)
    cancelled = questions(project, "cancelled")
    assert len(cancelled) <= 16
    assert sum(asked.values()) == sum(ended.values()) + sum(cancelled.values()) + 2  # two raise


def test_calls_asked_ahead_and_not_used_are_counted(project: Project) -> None:
    project.says([case("bad", "raise one"), *paris(40)], conftest=USED)
    run = project.run("-x")
    ended = len(notes(project, "ended"))
    assert 1 <= ended <= 40
    assert run.statuses == {"bad": "error"}
    usage = run.results["usage"]
    assert (usage["calls"], usage["attempts"], usage["replayed"]) == (ended, ended, 0)
    known = usage | usage.get("at_least", {})  # what was on its way is not in the sums
    assert (known["prompt_tokens"], known["completion_tokens"]) == (10 * ended, 2 * ended)
    assert known["cost_usd"] == known["spent_usd"] == pytest.approx(0.5 * ended)


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
def test_model_calls_in_vain_are_counted(project: Project, args: Mode) -> None:
    rows = [case(f"bad{number}", f"bad {number}") for number in range(2)]
    project.says([*rows, *paris(60)], conftest=SCRIPTED)
    run = project.run("-x", "--rag-system", "closed_book", "--rag-concurrency", "8", *args)
    assert run.status == (2 if args else 1)
    asked = len((project.path / "calls.txt").read_text())
    usage = run.results["usage"]
    assert usage["calls"] == usage["attempts"] == asked
    assert asked < 62
    told = sum(outcome["calls"]["calls"] for outcome in run.results["outcomes"])
    assert told < asked


def _hanging(project: Project, *args: str, count: int, ended: int = 0) -> None:
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
    begun = time.perf_counter()
    os.killpg(process.pid, signal.SIGINT)
    status = process.wait(30)
    took = time.perf_counter() - begun
    assert status == 2, (project.path / "output.txt").read_text()
    assert took < 4
    assert "never awaited" not in (project.path / "output.txt").read_text()


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_an_interrupt_cancels_what_is_on_its_way(project: Project, args: Mode) -> None:
    rows = [*paris(4), *(case(f"h{number}", f"hang {number}") for number in range(20))]
    project.says(rows, conftest=USED)
    _hanging(project, *args, count=2, ended=0 if args else 4)
    hung = {note.question for note in notes(project) if note.question.startswith("hang")}
    assert {note.question for note in notes(project, "cancelled")} == hung
    results = project.read()
    assert results["run"]["interrupted"] is True
    assert {outcome["status"] for outcome in results["outcomes"]} <= {"scored"}
    if not args:
        assert len(results["outcomes"]) == 4
        assert results["usage"]["calls"] == 4


def test_an_interrupt_does_not_wait_for_the_threads_of_a_sync_system(project: Project) -> None:
    rows = [case(f"h{number}", f"hang {number}") for number in range(6)]
    project.says(rows, conftest=USED.replace("return watched", "return plain"))
    _hanging(project, "--rag-concurrency", "3", count=3)
    assert peak(project) <= 4  # of those, one thread was given up for the next


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
    begun = time.perf_counter()
    run = project.run("--timeout", "0.5", "--rag-concurrency", "2", forked=True)
    assert time.perf_counter() - begun < 10
    assert {name for name, status in run.statuses.items() if status == "error"} == {"h1", "h2"}
    assert [status for name, status in run.statuses.items() if name[0] == "q"] == ["scored"] * 6


def test_a_test_that_ends_the_session_cancels_too(project: Project) -> None:
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
    until = time.monotonic() + 60
    while openai_server.in_flight < 16 and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(30) == 2, (project.path / "output.txt").read_text()
    assert len(openai_server.requests) == 16
    assert project.read()["usage"]["on_their_way"] == 16
