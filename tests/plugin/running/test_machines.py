"""Workers on other machines, for which socket servers in separate folders stand."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import execnet
import pytest
from support.projects.rag_project import RIGHT, Project, bare, cases

SERVER = Path(execnet.__file__).parent / "script" / "socketserver.py"
GATES = "gates=['accuracy >= 0.5', 'error_rate <= 0.5']"
HANGS = """
    import os, pathlib, time
    import pytest

    def hang(query):
        if query.question == "hang":
            pathlib.Path("hanging").write_text(str(os.getpid()))
            time.sleep(60)
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return hang
"""


class Machine:
    """A server that runs workers and stands for another machine."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.process = Popen([sys.executable, "-u", str(SERVER), "127.0.0.1:0"], cwd=folder, stdout=PIPE, text=True)
        assert self.process.stdout is not None
        match = re.search(r"\('127.0.0.1', (\d+)\)", self.process.stdout.readline())
        assert match is not None
        self.spec = f"--tx=socket=127.0.0.1:{match[1]}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Machine]]:
    folder = tmp_path_factory.mktemp("machines")
    servers = [Machine(folder / name) for name in ("one", "two")]
    yield servers
    for machine in servers:
        if machine.process.returncode is None:
            machine.kill()


def spread(project: Project, *specs: str) -> list[str]:
    """Return the arguments that run the tests on other machines; xdist deprecates copying a project."""
    project.file("pytest.ini", "[pytest]\n")
    return ["--dist=load", *specs, f"--rsyncdir={project.path}", str(project.path), "-Wignore::DeprecationWarning"]


def test_two_machines_give_the_same_results_as_one_process(project: Project, machines: list[Machine]) -> None:
    project.says(cases(*[RIGHT] * 8, topic="Funds"), GATES)
    answers = [{"id": f"q{number}", "answer": "Rome" if number == 5 else "Paris"} for number in range(1, 8)]
    project.data(answers, "data/answers.jsonl")  # of seven cases; the path exists in each copy of the project
    args = spread(project, *(machine.spec for machine in machines))
    here, there = (project.run(*more, "--rag-answers=data/answers.jsonl", forked=True) for more in ((), args))
    assert here.status == there.status == 1
    assert bare(here.results) == bare(there.results)
    assert sorted(there.statuses.values()) == ["error", *["scored"] * 7]
    folders = {machine.folder / "pyexecnetcache" / project.path.name for machine in machines}
    assert all((folder / "cases.jsonl").is_file() for folder in folders)  # each machine has its own copy
    assert not any((folder / ".rageval").exists() for folder in folders)  # the outcomes are stored only here


def test_a_lost_machine_loses_only_the_case_in_flight(project: Project, machines: list[Machine]) -> None:
    project.says(cases(*[RIGHT] * 3, "hang", *[RIGHT] * 16), GATES, conftest=HANGS)
    args = spread(project, *(machine.spec for machine in machines))
    process = project.started(*args, "--rag-json=results.json")
    _kill_hanging_machine(machines)
    assert process.wait(60) == 1
    results = project.read()
    errors = {each["case_id"]: each["error"] for each in results["outcomes"] if each["status"] == "error"}
    assert list(errors) == ["q4"]
    assert "crashed while running" in errors["q4"]
    assert sum(each["status"] == "scored" for each in results["outcomes"]) == 19
    assert [gate["status"] for gate in results["gates"]] == ["passed", "passed"]
    output = (project.path / "output.txt").read_text()
    assert output.count("a worker on this machine took its place") == 1
    assert "INTERNALERROR" not in output


def _kill_hanging_machine(machines: list[Machine]) -> None:
    """Wait until a case hangs on a machine, and kill that machine."""
    for _ in range(600):
        for machine in machines:
            paths = [path for path in machine.folder.rglob("hanging") if path.read_text()]
            if paths:
                assert int(paths[0].read_text()) == machine.process.pid
                os.kill(machine.process.pid, signal.SIGKILL)
                machine.kill()
                return
        time.sleep(0.05)
    pytest.fail("no case has hung")


def test_an_unreachable_machine_is_reported_in_one_sentence(project: Project, machines: list[Machine]) -> None:
    project.says(cases(RIGHT))
    machines[0].kill()
    run = project.run(*spread(project, machines[0].spec), forked=True)
    assert run.status == pytest.ExitCode.USAGE_ERROR
    (error,) = run.result.stderr.str().strip().splitlines()
    assert error.startswith("ERROR: not every worker of --tx socket=127.0.0.1:")
    assert error.endswith("can be started (Connection refused); see that its machine is up and listens [RAG504]")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--rag-budget-usd=1"], "--rag-budget-usd is kept in a file that workers on other machines (--tx) do not"),
        (["--rag-record-mode=once"], "the record mode 'once' would leave recordings on other machines (--tx); record"),
        (["cases.jsonl"], "arg cases.jsonl not relative to an rsync root; give absolute paths below --rsyncdir"),
    ],
)
def test_options_that_need_one_machine_are_refused(project: Project, args: list[str], sentence: str) -> None:
    project.says(cases(RIGHT))
    elsewhere = f"--tx=popen//chdir={project.path.parent / 'elsewhere'}"
    run = project.run(*spread(project, elsewhere), *args, forked=True)
    assert run.status == pytest.ExitCode.USAGE_ERROR
    (error,) = run.result.stderr.str().strip().splitlines()
    assert sentence in error


@pytest.mark.parametrize(("dist", "status"), [("load", 4), ("loadfile", 0)])
def test_conversations_stay_on_one_machine(project: Project, dist: str, status: int) -> None:
    turns = [{"dialogue": "d", "round": at, **each} for at, each in enumerate(cases(RIGHT, RIGHT), 1)]
    turns[1]["history"] = [{"question": RIGHT, "answer": "Paris"}]
    project.says(turns, "history='own'")
    elsewhere = f"--tx=popen//chdir={project.path.parent / 'elsewhere'}"
    run = project.run(*spread(project, elsewhere), f"--dist={dist}", forked=True)
    assert run.status == status
    if status:
        assert "history = own needs all turns of a conversation on one machine; give --dist loadfile" in str(
            run.result.stderr
        )
