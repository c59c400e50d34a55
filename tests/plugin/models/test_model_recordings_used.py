"""Recordings of a user's system, unused recordings, and invalid files of recordings."""

from __future__ import annotations

import os

import pytest
from support.projects.model_projects import FILE, asks, loaded, numbered, recordings, refused, rows, stop  # noqa: F401
from support.projects.rag_project import Mode, Project
from support.servers.openai_server import OpenAIServer

from pytest_rageval.cli import main

SYSTEM = """
    import pytest
    from pytest_rageval import Answer, Usage, recorded

    @recorded{name}
    {asynchronous}def answer(query):
        with open("asked.txt", "a") as stream:
            stream.write(query.question + chr(10))
        return Answer("Paris", usage=Usage(10, 2, 0.25))

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""


@pytest.mark.parametrize(
    ("asynchronous", "args"),
    [("", ()), ("async ", ()), ("async ", ("-n2",)), ("", ("-p", "no:xdist"))],
    ids=["sync", "async", "async-n2", "sync-no-xdist"],
)
def test_a_users_own_system_is_recorded_and_replayed(project: Project, asynchronous: str, args: Mode) -> None:
    project.file("pytest.ini", "[pytest]\nrag_record_mode = once")
    project.data(rows("a", "b"))
    project.file("conftest.py", SYSTEM.replace("{asynchronous}", asynchronous).replace("{name}", '(name="mine")'))
    project.file("test_it.py", """
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
        def test_it(rag):
            assert rag.record(look_up, rag.case.id) == f"{rag.case.id} is looked up"

        def look_up(name):
            with open("asked.txt", "a") as stream:
                stream.write(f"looked up {name}" + chr(10))
            return f"{name} is looked up"
    """)  # fmt: skip
    first = project.run(*args)
    assert first.status == 0, first.text
    calls = (project.path / "asked.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(calls) == ["Where is a?", "Where is b?", "looked up a", "looked up b"]
    assert sorted(os.listdir(project.path / "cassettes")) == ["system-mine.jsonl", "system-test_it.look_up.jsonl"]
    again = project.run("--rag-record-mode", "none", *args)
    assert again.status == 0, again.text
    assert (project.path / "asked.txt").read_text(encoding="utf-8").splitlines() == calls
    assert (
        first.outcomes["a"]["calls"] | {"replayed": 1, "attempts": 0, "spent_usd": 0.0} == again.outcomes["a"]["calls"]
    )
    assert again.outcomes["a"]["answer"]["usage"]["latency_s"] is None
    used_lines = (
        (next(project.path.glob(".rageval/runs/*/used-recordings.txt"))).read_text(encoding="utf-8").split("\n")
    )
    assert (used_lines[0], len(used_lines)) == ("# complete", 6)


def test_recordings_that_a_complete_run_did_not_use_can_be_removed(
    project: Project, openai_server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    asks(project, openai_server.base_url, numbered(4), "rag_record_mode = new_episodes")
    assert project.run().status == 0
    project.data(numbered(2))
    assert project.run("--rag-limit", "1").status == 0
    assert _used_recordings(project) == ("# partial", 1)
    capsys.readouterr()
    assert main(["cassettes", "prune"]) == 2
    assert "ran only some of the tests" in capsys.readouterr().err
    assert project.run("test_it.py").status == 0
    assert _used_recordings(project) == ("# partial", 2)
    project.data([*numbered(2), *rows("new")])
    assert project.run("--rag-record-mode", "none").status == 1  # after an error, its used recordings are unknown
    assert _used_recordings(project) == ("# partial", 2)
    project.data(numbered(2))
    assert project.run().status == 0
    assert _used_recordings(project) == ("# complete", 2)
    capsys.readouterr()
    assert main(["cassettes", "--unused"]) == 0
    output = capsys.readouterr().out
    assert ["model-openai--m.jsonl", "4", "2", "2"] in [line.split() for line in output.splitlines()]
    assert output.count(" repeat 1: ") == 2
    assert main(["cassettes", "prune"]) == 0
    assert "Removed 2 recordings that the run " in capsys.readouterr().out
    assert len(recordings(project)) == 2
    stop(openai_server)
    assert project.run("--rag-record-mode", "none").status == 0


def _used_recordings(project: Project) -> tuple[str, int]:
    (note,) = project.path.glob(".rageval/runs/*/used-recordings.txt")
    head, *keys = note.read_text(encoding="utf-8").split()
    return f"{head} {keys[0]}", len(keys) - 1


CONFLICT = "<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> theirs\n"


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
@pytest.mark.parametrize("record_mode", ["none", "new_episodes", "all"])
def test_a_malformed_line_ends_the_session_before_anything_runs(
    project: Project, openai_server: OpenAIServer, record_mode: str, args: Mode
) -> None:
    asks(project, openai_server.base_url, numbered(3))
    conflict = CONFLICT.format(ours='{"key": "a"}', theirs='{"key": "b"}')
    project.file(FILE, conflict)
    sentence = refused(project, "--rag-record-mode", record_mode, *args)
    assert f"{FILE}:1: this line is no recording; take it out, or restore the file" in sentence
    assert openai_server.requests == []
    assert (project.path / FILE).read_text(encoding="utf-8") == conflict.strip() + "\n"


def test_a_read_only_folder_is_reported(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, rows("a"))
    (project.path / FILE).mkdir(parents=True)
    run = project.run("--rag-record-mode", "all")
    assert (run.status, run.statuses) == (0, {"a": "scored"})
    run.said(f"warning: *{FILE}: recordings cannot be written here (Is a directory); make room, correct the rights*")
    assert "Traceback" not in run.text + run.result.stderr.str()
