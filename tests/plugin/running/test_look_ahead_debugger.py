"""A debugger turns look-ahead off."""

from __future__ import annotations

import pytest
from support.projects.look_ahead_project import PLAIN, WATCHED, notes, paris, peak, questions
from support.projects.rag_project import RUNS, Project, case

SCRIPTED = """
    import io
    import pdb

    class Scripted(pdb.Pdb):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, nosigint=True, stdin=io.StringIO("p 'pro' + 'mpt'\\nc\\n" * 99), **kwargs)
            self.use_rawinput = False

        def interaction(self, *args, **kwargs):
            with open("seen.txt", "a") as stream:
                stream.write("debugger|0|||\\n")
            super().interaction(*args, **kwargs)
"""
"""A debugger that prints "prompt" and continues, each time it is called."""


@pytest.fixture(autouse=True)
def _restore_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo after the test that pytest-timeout turns timeouts off for a process with a debugger."""
    monkeypatch.setattr("pytest_timeout.SUPPRESS_TIMEOUT", False)


@pytest.mark.parametrize(("option", "conftest"), [("--pdb", WATCHED), ("--trace", PLAIN)], ids=["pdb", "trace"])
def test_debugger_options_turn_look_ahead_off(project: Project, option: str, conftest: str) -> None:
    project.says([*paris(4), case("bad", "raise it"), *paris(4, 5)], conftest=conftest)
    project.file("scripted.py", SCRIPTED)
    project.pytester.syspathinsert()
    run = project.run(option, "--pdbcls", "scripted:Scripted", "--rag-concurrency", "4")
    assert run.status == 1
    assert list(run.statuses.values()).count("scored") == 8
    assert peak(project) == 1
    assert set(questions(project).values()) == {1}
    assert option == "--trace" or len(notes(project, "debugger")) == 1


def test_a_breakpoint_turns_look_ahead_off_from_then_on(project: Project) -> None:
    test = RUNS.replace("...", "rag.case.id == 'q3' and breakpoint()")
    slow = WATCHED.replace("else 0.02", "else 0.02 if int(query.question.split()[-1]) < 5 else 0.2")
    project.says(paris(9), test=test, conftest=slow)
    project.file("scripted.py", SCRIPTED)
    project.pytester.syspathinsert()
    run = project.run("--pdbcls", "scripted:Scripted")
    assert run.status == 0
    assert set(run.statuses.values()) == {"scored"}
    again = [note for note in notes(project) if note.now == 1][1:]
    assert [note.question for note in again] == [f"say Paris {number}" for number in range(4, 10)]
    assert sorted(questions(project, "cancelled")) == [f"say Paris {number}" for number in range(5, 10)]
    assert [note.word for note in [*notes(project)[:9], *notes(project, "debugger")]] == ["asked"] * 9 + ["debugger"]


def test_a_breakpoint_in_a_system_that_is_asked_ahead_reads_commands(project: Project) -> None:
    breaking = WATCHED.replace(
        'note("asked", query)', 'note("asked", query); "Paris 4" in query.question and breakpoint()', 1
    )
    project.says(paris(6), conftest=breaking)
    project.file("scripted.py", SCRIPTED)
    run = project.run("--pdbcls", "scripted:Scripted", subprocess=True)
    assert run.status == 0
    assert set(run.statuses.values()) == {"scored"}
    assert 1 <= len(notes(project, "debugger")) <= 2
    run.said("*PDB set_trace*", "*'prompt'*")


def test_a_plugin_that_enters_a_debugger_turns_look_ahead_off(project: Project) -> None:
    test = RUNS.replace(
        "(rag):\n        ...",
        "(rag, pytestconfig):\n        pytestconfig.hook.pytest_enter_pdb(config=pytestconfig, pdb=None)",
    )
    project.says(paris(8), test=test, conftest=WATCHED)
    run = project.run()
    assert run.status == 0
    assert set(run.statuses.values()) == {"scored"}
    last = notes(project)[-1]
    assert (last.question, last.now) == ("say Paris 8", 1)
