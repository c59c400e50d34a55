"""Sessions that resume a run that was interrupted or killed, or that had errors."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from random import Random
from shutil import rmtree
from xml.etree import ElementTree

import pytest
from support.projects.rag_project import RAISES, RIGHT, WRONG, Mode, Project, bare, cases
from support.projects.resume_project import BERN, SAYS, TEST, asked, folders, resume, stop


def junit_tests(path: Path) -> set[tuple[str, ...]]:
    """Return the entries of each test in a JUnit file, without times."""
    tests = ElementTree.parse(path).iter("testcase")  # noqa: S314 - our own file
    return {
        tuple(
            f"{part.tag} {part.get('name')} {part.get('value')} {part.get('message')}"
            for part in test.iter()
            if part.get("name") != "rag.usage.latency_s"
        )
        for test in tests
    }


MIXED = cases(RIGHT, WRONG, RAISES, BERN, RIGHT, BERN, RIGHT, WRONG)


def test_only_unfinished_cases_run(project: Project, mode: Mode) -> None:
    project.says(MIXED, test=TEST, conftest=SAYS)
    family = ("-o", "junit_family=xunit1")  # this family has properties of tests
    whole = project.run("--junitxml", "whole.xml", *family)
    assert whole.status == 1
    stop(project, "test_it[q6]")
    resumed = resume(project, "--junitxml", "resumed.xml", *family, *mode)
    assert sorted(asked(project)) == sorted([RAISES, BERN, RIGHT, WRONG])  # an error does not finish a case
    assert bare(resumed.results) == bare(whole.results)
    assert resumed.status == whole.status
    assert resumed.result.parseoutcomes() == whole.result.parseoutcomes()
    assert junit_tests(project.path / "resumed.xml") == junit_tests(project.path / "whole.xml")
    resumed.said("4 of 8 cases taken over from the run *", "*AssertionError: Bern", "said: Bern")
    again = resume(project)
    assert len(again.outcomes) == 8
    again.said("7 of 8 cases taken over from the run *")
    assert asked(project)[4:] == [RAISES]


def _run_and_kill(project: Project, args: Mode, moment: Random) -> None:
    """Start a session and kill it and its workers after some more cases, unless it ends before that."""
    before = len(asked(project))
    process = project.started("--rag-resume", *args)
    target, deadline = before + moment.randint(0, 6), time.monotonic() + 30
    while len(asked(project)) <= target and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(moment.uniform(0, 0.015))
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(("args", "kills"), [((), 8), (("-n2",), 4)], ids=["plain", "n2"])
def test_a_run_killed_repeatedly_ends_like_an_uninterrupted_one(
    project: Project, monkeypatch: pytest.MonkeyPatch, args: Mode, kills: int
) -> None:
    questions = [f"say {['Paris', 'Rome', 'Bern', 'Paris'][at % 4]} {at}" for at in range(40)]
    project.says(cases(*questions), test=TEST, conftest=SAYS)
    whole = project.run()
    (project.path / "asked.txt").unlink()
    rmtree(project.path / ".rageval")
    monkeypatch.setenv("SAY_S", "0.012")
    moment = Random(7)
    for _ in range(kills):
        _run_and_kill(project, args, moment)
    in_flight = 1 if not args else 6  # a worker has one case, and reports that are not sent yet
    resumed = resume(project, *args)
    assert bare(resumed.results) == bare(whole.results)
    assert resumed.status == whole.status == 1
    assert set(asked(project)) == set(questions)
    assert len(asked(project)) <= 40 + kills * in_flight


MALFORMED = {
    "nested": lambda line: line.replace('"keywords": {', '"keywords": {"x": ' + "[" * 3000 + "]" * 3000 + ", "),
    "no report": lambda line: line.replace('"teardown"', '"else"'),
    "other type": lambda line: line.replace('"reports": {', '"reports": 3, "rest": {'),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_line_is_reported_and_its_case_runs_again(project: Project, name: str) -> None:
    project.says(cases(*[RIGHT] * 4), test=TEST, conftest=SAYS)
    stop(project, "test_it[q4]")
    path = folders(project)[0] / "ended.jsonl"
    lines = path.read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if "[q2]" in line)
    changed = MALFORMED[name](lines[at])
    assert changed != lines[at]
    path.write_text("\n".join([*lines[:at], changed, *lines[at + 1 :], ""]))
    resumed = resume(project)
    answers = 1 if name == "nested" else 2  # the journal has the answer of a line that cannot be parsed
    assert (resumed.status, asked(project)) == (0, [RIGHT] * answers)
    resumed.said(
        "2 of 4 cases taken over from the run *",
        "warning: 1 line in the folder of the run * cannot be read, and its case runs again",
    )


def test_the_case_of_a_truncated_line_counts_as_in_flight(project: Project) -> None:
    project.says(cases(*[RIGHT] * 4), test=TEST, conftest=SAYS)
    whole = project.run()
    stop(project, "test_it[q4]")
    for name in ("outcomes.jsonl", "ended.jsonl"):
        path = folders(project)[0] / name
        path.write_bytes(path.read_bytes()[:-20])
    resumed = resume(project)
    assert bare(resumed.results) == bare(whole.results)
    assert asked(project) == [RIGHT]  # the journal has the answer of the truncated line


def test_a_run_without_texts_is_resumed_without_them(project: Project) -> None:
    project.says(MIXED, test=TEST, conftest=SAYS)
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false\n")
    whole = project.run()
    stop(project, "test_it[q6]")
    assert not any("Bern" in path.read_text() for path in folders(project)[0].iterdir())
    resumed = resume(project)
    assert bare(resumed.results) == bare(whole.results)
    assert resumed.result.parseoutcomes() == whole.result.parseoutcomes()
    resumed.said("*the run that this test failed in keeps no texts (rag_report_texts = false)")


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_conversation_continues_from_its_earlier_turns(project: Project, args: Mode) -> None:
    history = [{"question": f"say {word}", "answer": "gold"} for word in "abc"]
    rows = [
        {"id": f"d.{at + 1}", "question": f"say {word}", "answers": ["a"], "history": history[:at]}
        | {"dialogue": "d", "round": at + 1}
        for at, word in enumerate("abc")
    ]
    project.says(rows, 'history="own"', test=TEST, conftest=SAYS)
    whole = project.run("--rag-repeat", "2")
    stop(project, "test_it[d.3-repeat=1]", "--rag-repeat", "2")
    resumed = resume(project, "--rag-repeat", "2", *args)
    assert bare(resumed.results) == bare(whole.results)
    assert resumed.outcomes["d.3"]["answer"]["text"] == "c < a < b < a"
    assert asked(project) == ["say c", "say c"]


def test_a_partial_run_is_resumed_for_part_of_the_project(project: Project) -> None:
    project.says(cases(*[f"say Paris {at}" for at in range(8)]), test=TEST, conftest=SAYS)
    whole = project.run()
    stop(project, "test_it[q4]")
    part = resume(project, "-k", "q3 or q4 or q5")
    part.said("1 of 3 cases taken over from the run *", "*3 passed, 1 skipped, 5 deselected*")
    assert asked(project) == ["say Paris 3", "say Paris 4"]
    resumed = resume(project)
    assert asked(project)[2:] == ["say Paris 5", "say Paris 6", "say Paris 7"]
    assert bare(resumed.results) == bare(whole.results)


def test_each_shard_of_a_folder_resumes_its_own_run(project: Project) -> None:
    project.says(cases(*[f"say Paris {at}" for at in range(8)]), test=TEST, conftest=SAYS)
    first = list(project.run("--rag-shard=1/2").statuses)
    stop(project, f"test_it[{first[2]}]", "--rag-shard=1/2")
    other = resume(project, "--rag-shard=2/2")
    assert "no run of shard 2/2 in .rageval/runs is unfinished" in other.result.stdout.str()
    assert len(asked(project)) == 4
    (project.path / "asked.txt").unlink()
    assert resume(project, "--rag-shard=1/2").status == 0
    assert len(asked(project)) == 2


def test_a_whole_run_is_resumed_in_shards(project: Project) -> None:
    project.says(cases(*[f"say Paris {at}" for at in range(8)]), test=TEST, conftest=SAYS)
    stop(project, "test_it[q7]")
    for shard in ("1/2", "2/2"):
        assert resume(project, f"--rag-shard={shard}").status == 0
    assert len(asked(project)) == 2


def test_a_run_is_resumed_by_name_or_folder_for_its_errors(project: Project) -> None:
    project.says(cases(RIGHT, "raise 503", WRONG), test=TEST, conftest=SAYS)
    assert project.run().statuses["q2"] == "error"
    (folder,) = folders(project)
    for name in (folder.name, f".rageval/runs/{folder.name}"):
        (project.path / "asked.txt").unlink()
        run = project.run(f"--rag-resume={name}", fresh=False)
        run.said(f"2 of 3 cases taken over from the run {folder.name}")
        assert asked(project) == ["raise 503"]


def test_a_run_with_errors_prints_the_command_that_repeats_them(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, "raise 503", WRONG, "raise 503", RIGHT), test=TEST, conftest=SAYS)
    first = project.run("-k", "test_it", *mode)
    (folder,) = folders(project)
    args = f"-k test_it {' '.join(mode)}".strip()
    first.said(f"2 errors: ask them again, and nothing else, with pytest --rag-resume={folder.name} *{args}*")
    (project.path / "asked.txt").unlink()
    project.file("conftest.py", SAYS.replace("raise ValueError(rest)", 'return "Paris"'))
    resumed = resume(project, *mode)
    resumed.said(f"3 of 5 cases taken over from the run {folder.name}")
    assert asked(project) == ["raise 503"] * 2
    assert set(resumed.statuses.values()) == {"scored"}
    assert "ask them again" not in resumed.prose
    again = resume(project)
    again.said("warning: no run in .rageval/runs is unfinished or has errors: --rag-resume takes nothing over*")


def test_a_resumed_run_with_errors_prints_its_own_name(project: Project) -> None:
    project.says(cases(RIGHT, "raise 503"), test=TEST, conftest=SAYS)
    project.run()
    for args in (("--rag-resume",), (f"--rag-resume={folders(project)[0].name}",)):
        run = project.run(*args, "-v", fresh=False)
        newest = folders(project)[-1].name
        (line,) = [line for line in run.prose.splitlines() if "ask it again" in line]
        assert line.startswith(f"1 error: ask it again, and nothing else, with pytest --rag-resume={newest} ")
        assert line.count("--rag-resume") == 1


def test_a_run_of_errors_only_has_nothing_to_reuse(project: Project) -> None:
    project.says(cases("raise 503", "raise 503"), test=TEST, conftest=SAYS)
    assert "--rag-resume" not in project.run().text


def test_a_complete_run_leaves_nothing_to_resume(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), test=TEST, conftest=SAYS)
    project.run()
    (folder,) = folders(project)
    run = project.run(f"--rag-resume={folder.name}", fresh=False)
    run.said(f"warning: the run {folder.name} has nothing that --rag-resume could take over, and all cases run")
    assert len(asked(project)) == 4


def test_exitfirst_stops_at_a_failure_that_is_taken_over(project: Project) -> None:
    project.says(MIXED, test=TEST, conftest=SAYS)
    stop(project, "test_it[q6]")
    run = resume(project, "-x")
    assert (run.status, asked(project)) == (1, [])
    assert run.result.parseoutcomes() == {"failed": 1, "passed": 1, "missed": 1, "skipped": 1}
    assert sorted(resume(project).outcomes) == [f"q{at}" for at in range(1, 9)]
    assert len(asked(project)) == 4


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_resumed_selection_can_reuse_all_outcomes(project: Project, args: Mode) -> None:
    project.says(MIXED[3:], test=TEST, conftest=SAYS)
    stop(project, "test_it[q6]")
    run = resume(project, "-v", "-k", "q4 or q5", *args)
    assert (run.status, asked(project)) == (1, [])
    assert run.result.parseoutcomes()["failed"] == 1
    run.said("2 of 2 cases taken over from the run *", "*not decided: 2 of 5 cases selected*")
    assert run.text.count("taken over from the run") == 1
