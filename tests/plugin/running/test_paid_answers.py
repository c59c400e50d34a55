"""Unused answers of a run that was killed: a resumed run uses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.projects.rag_project import Mode, Project, bare, cases
from support.projects.resume_project import asked, folders, resume

ASYNC = """
    import asyncio
    import os
    import pytest
    from pytest_rageval import Answer, Usage

    def note(name, text):
        with open(name, "a") as file:
            file.write(text + "\\n")

    @pytest.fixture(scope="session")
    def rag_system():
        async def say(query):
            note("asked.txt", query.question)
            while "slow" in query.question and not os.path.exists("go.txt"):
                await asyncio.sleep(0.01)
            note(f"done-{os.getpid()}.txt", query.question)
            note("done.txt", query.question)
            return Answer(query.question.split()[1], usage=Usage(10, 5, 0.01))
        return say
"""

CUTTING = """
    import os
    import signal
    import time

    def answers_here():
        name = f"done-{os.getpid()}.txt"
        if not os.path.exists(name):
            return 0
        with open(name) as file:
            return len(file.readlines())

    def cut():
        open("cutting.txt", "w").close()
        before, until = -1, time.monotonic() + 20
        while time.monotonic() < until:  # until this process has some answers, and nothing is answered any more
            now = os.path.getsize("done.txt")
            if now == before and answers_here() >= int(os.environ.get("ANSWERS", "0")):
                break
            before = now
            time.sleep(0.4)
        if os.environ["CUT"] == "kill":
            os.killpg(0, signal.SIGKILL)
        raise KeyboardInterrupt
"""

TEST = """
    import os
    import time
    from cutting import cut
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"]{arguments})
    def test_it(rag):
        if rag.case.id == "q2" and not os.path.exists("go.txt"):
            cut()
        while rag.case.id != "q1" and not os.path.exists("go.txt") and not os.path.exists("cutting.txt"):
            time.sleep(0.01)
"""
"""With two workers, both have the same number of tests when q2 ends the run."""

QUESTIONS = [f"say Paris {at}{' slow' * (at > 16)}" for at in range(1, 21)]


def _write_project(project: Project, test: str = TEST) -> None:
    project.file("cutting.py", CUTTING)
    project.says(cases(*QUESTIONS), test=test, conftest=ASYNC)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _run_and_cut(project: Project, monkeypatch: pytest.MonkeyPatch, how: str, *args: str) -> list[str]:
    """Run the project until its second test ends it; return the questions answered by then."""
    monkeypatch.setenv("CUT", how)
    project.started(*args).wait(60)
    (project.path / "go.txt").touch()
    answered_questions = _lines(project.path / "done.txt")
    (project.path / "done.txt").write_text("")
    return answered_questions


@pytest.mark.parametrize(
    ("how", "args"), [("kill", ()), ("interrupt", ()), ("kill", ("-n2",))], ids=["kill", "interrupt", "kill-n2"]
)
def test_a_resumed_run_asks_only_questions_without_an_answer(
    project: Project, monkeypatch: pytest.MonkeyPatch, how: str, args: Mode
) -> None:
    _write_project(project)
    monkeypatch.setenv("ANSWERS", "3")  # to q1, which its test used, to q2, and to one ahead
    answered_questions = _run_and_cut(project, monkeypatch, how, "--rag-concurrency=4", *args)
    slow = len(asked(project)) - len(answered_questions)
    assert len(answered_questions) >= 5
    assert slow >= 2
    resumed = resume(project, "--rag-concurrency=4", *args)
    assert not set(answered_questions) & set(_lines(project.path / "done.txt"))
    assert len(asked(project)) == 20 + slow
    assert set(resumed.statuses.values()) == {"scored"}
    origin = resumed.results["run"]["resumed"]
    n_cases, n_answers = origin["cases"], origin["answers"]
    assert n_cases + n_answers == len(answered_questions)
    assert n_answers >= 2
    in_flight = f"{slow} calls were on their way, their cost is unknown"
    resumed.said(
        f"{n_cases} of 20 cases taken over from the run *, and {n_answers} answers that no test had used; "
        f"that run cost at least ${len(answered_questions) / 100:.4f}; {in_flight}"
    )
    assert origin["usage"]["on_their_way"] == slow
    assert origin["usage"]["cost_usd"] is None
    assert origin["usage"]["at_least"]["cost_usd"] == pytest.approx(len(answered_questions) / 100)
    assert resumed.results["usage"]["cost_usd"] == pytest.approx(0.2)
    assert bare(project.run().results) == bare(resumed.results)


def test_the_summary_of_an_interrupted_run_reports_calls_in_flight(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_project(project)
    answered_questions = _run_and_cut(project, monkeypatch, "interrupt", "--rag-concurrency=4", "-v")
    output = " ".join((project.path / "output.txt").read_text().split())
    assert len(answered_questions) == 16
    assert "cost at least $0.1600; 4 calls were on their way, their cost is unknown" in output
    assert re.search(r"rag: interrupted 1 case, 0 errors, 19 not run, [\d.]+ s, at least \$0\.1600", output), output
    usage = project.stored_results()["usage"]
    assert (usage["calls"], usage["on_their_way"], usage["cost_usd"]) == (16, 4, None)
    assert usage["at_least"]["cost_usd"] == pytest.approx(0.16)


def test_a_resumed_run_that_is_killed_again_keeps_the_answers_of_both(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_project(project)
    first = _run_and_cut(project, monkeypatch, "kill", "--rag-concurrency=4", "-k", "not q7 and not q8")
    (project.path / "go.txt").unlink()
    second = _run_and_cut(project, monkeypatch, "kill", "--rag-concurrency=4", "--rag-resume")
    assert not set(first) & set(second)
    resumed = resume(project, "--rag-concurrency=4")
    assert not set(first + second) & set(_lines(project.path / "done.txt"))
    assert set(resumed.statuses.values()) == {"scored"}


def test_other_settings_are_refused_even_if_no_case_has_ended(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_project(project, TEST.replace('"q2"', '"q1"'))
    _run_and_cut(project, monkeypatch, "kill", "--rag-concurrency=4")
    project.file("pytest.ini", "[pytest]\nrag_top_k = 7\n")
    run = project.run("--rag-resume", fresh=False)
    assert run.status == 4
    run.result.stderr.fnmatch_lines(["*its system differs: rag_top_k was 5 and is 7*"])


def test_without_texts_unused_answers_are_asked_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    _write_project(project)
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false\n")
    answered_questions = _run_and_cut(project, monkeypatch, "kill", "--rag-concurrency=4")
    (folder,) = folders(project)
    assert not any("Paris" in path.read_text() for path in folder.glob("journal-*"))
    resumed = resume(project, "--rag-concurrency=4")
    assert sorted(_lines(project.path / "done.txt")) == sorted(set(QUESTIONS) - {answered_questions[0]})
    resumed.said("1 of 20 cases taken over from the run *; that run cost at least $0.1600; 4 calls were on their way*")
