"""Workers on other machines over a broken network; network namespaces stand for machines.

One run serves all tests: the link to the machine "one" is deleted while it answers, and the clock of "two" is an hour
behind.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen
from threading import Timer
from typing import Any
from xml.etree import ElementTree

import execnet
import pytest
from support.processes.network_namespaces import Network, network

SERVER = str(Path(execnet.__file__).parent / "script" / "socketserver.py")
LATE_CLOCK = f"""
import runpy, sys, time
now = time.time
time.time = lambda: now() - 3600
sys.argv[0] = {SERVER!r}
runpy.run_path({SERVER!r}, run_name="__main__")
"""
CONFTEST = """
import os, pathlib, time
import pytest
from pytest_rageval.hooks.reporting import remote_workers

remote_workers.QUIET_S, remote_workers.PROBE_S, remote_workers.UNREAD_S = 1, 1, 6
questions = []

def answer(query):
    questions.append(query.question)
    if os.environ["MACHINE"] == "one" and len(questions) == 2:
        pathlib.Path("hanging").write_text(query.question)
        time.sleep(600)
    return os.environ["MACHINE"] + f" answers at {time.time()}"

@pytest.fixture(scope="session")
def rag_system():
    return answer
"""
TEST = """
from pytest_rageval import rag_case

@rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.5", "error_rate <= 0.5"])
def test_it(rag):
    ...
"""
CASES = 16


@dataclass(frozen=True)
class Session:
    """The session after its end.

    Attributes:
        status: its exit status.
        seconds: time from the deletion of the link to the end.
        text, results, junit: its output, results.json and JUnit file.
        hanging_question: the question in flight on the lost machine.
        is_freed: whether the lost machine listens again.
    """

    status: int
    seconds: float
    text: str
    results: dict[str, Any]
    junit: str
    hanging_question: str
    is_freed: bool

    def answers_of(self, machine: str) -> list[dict[str, Any]]:
        outcomes = self.results["outcomes"]
        return [each for each in outcomes if each["status"] == "scored" and each["answer"]["text"].startswith(machine)]


@contextmanager
def machine(net: Network, name: str, address: str, folder: Path, *script: str) -> Iterator[tuple[str, Popen[str]]]:
    """Serve workers in a namespace; yield their address and the process."""
    folder.mkdir()
    command = net.command(name, sys.executable, "-u", *(script or (SERVER,)), f"{address}:0")
    with Popen(command, cwd=folder, stdout=PIPE, text=True, env={**os.environ, "MACHINE": name}) as process:
        try:
            assert process.stdout is not None
            match = re.search(rf"\('{address}', (\d+)\)", process.stdout.readline())
            assert match is not None
            yield f"{address}:{match[1]}", process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Run a session on three machines, and delete a link while it runs."""
    folder = tmp_path_factory.mktemp("network")
    project = folder / "project"
    project.mkdir()
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "conftest.py").write_text(CONFTEST)
    (project / "test_it.py").write_text(TEST)
    rows = [{"id": f"q{number}", "question": f"Who? {number}", "answers": ["two", "one"]} for number in range(CASES)]
    (project / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with network("desk", "one", "two") as net:
        here, there = net.link("desk", "one")[1], net.link("desk", "two")[1]
        with (
            machine(net, "one", here, folder / "one") as (first, lost),
            machine(net, "two", there, folder / "two", "-c", LATE_CLOCK) as (second, _),
            (project / "output.txt").open("w") as output,
        ):
            words = (
                "-m", "pytest", "--dist=load", f"--tx=socket={first}", f"--tx=socket={second}",
                f"--rsyncdir={project}", str(project), "-Wignore::DeprecationWarning",
                f"--rag-json={project}/results.json", f"--junitxml={project}/junit.xml",
            )  # fmt: skip
            command = net.command("desk", sys.executable, *words)
            environment = {**os.environ, "MACHINE": "desk"}
            with Popen(command, cwd=project, stdout=output, stderr=STDOUT, env=environment) as run:
                try:
                    hanging_question = _wait_for_hanging_case(folder / "one", run)
                    net.cut("desk", "one")
                    start = time.monotonic()
                    status = run.wait(120)
                finally:
                    run.kill()
            seconds = time.monotonic() - start
            is_freed = _listens(lost)
    results = json.loads((project / "results.json").read_text())
    return Session(
        status,
        seconds,
        (project / "output.txt").read_text(),
        results,
        (project / "junit.xml").read_text(),
        hanging_question,
        is_freed,
    )


def _wait_for_hanging_case(folder: Path, run: Popen[bytes]) -> str:
    """Wait until a case hangs on a machine; return its question."""
    for _ in range(1_200):
        for path in folder.rglob("hanging"):
            with suppress(OSError):
                if question := path.read_text():
                    return question
        assert run.poll() is None
        time.sleep(0.05)
    pytest.fail("no case has hung")


def _listens(server: Popen[str]) -> bool:
    """Return whether a server that has executed its worker listens again; wait for it."""
    timer = Timer(20, server.kill)
    timer.start()
    try:
        return server.stdout is not None and any("Entering Accept loop" in line for line in server.stdout)
    finally:
        timer.cancel()


def test_an_unreachable_machine_loses_only_the_case_in_flight(session: Session) -> None:
    assert session.status == 1, session.text
    errors = [each for each in session.results["outcomes"] if each["status"] == "error"]
    assert [each["question"] if "question" in each else f"Who? {each['case_id'][1:]}" for each in errors] == [
        session.hanging_question
    ]
    assert "crashed while running" in errors[0]["error"]
    assert sum(each["status"] == "scored" for each in session.results["outcomes"]) == CASES - 1
    assert [gate["status"] for gate in session.results["gates"]] == ["passed", "passed"]
    assert session.text.count("a worker on this machine took its place") == 1
    assert "INTERNALERROR" not in session.text


def test_the_loss_is_noticed_in_time(session: Session) -> None:
    assert session.seconds < 30


def test_the_lost_machine_serves_the_next_run(session: Session) -> None:
    assert session.is_freed


def test_the_other_machine_goes_on(session: Session) -> None:
    assert len(session.answers_of("two")) > 2
    assert len(session.answers_of("one")) == 1


def test_a_clock_that_is_an_hour_behind_makes_no_negative_time(session: Session) -> None:
    behind, other = session.answers_of("two")[0], session.answers_of("one")[0]
    times = [float(each["answer"]["text"].split()[-1]) for each in (behind, other)]
    assert times[1] - times[0] > 3_000  # the patch works
    assert all(seconds >= 0 for seconds in _seconds(session.results))
    assert sum(1 for _ in _seconds(session.results)) >= CASES - 1
    suite = ElementTree.fromstring(session.junit)  # noqa: S314 - written by pytest
    assert all(float(each.attrib["time"]) >= 0 for each in suite.iter() if "time" in each.attrib)


def _seconds(value: Any, name: str = "") -> Iterator[float]:
    """Yield each number in a JSON value that has the name of a time."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _seconds(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _seconds(item, name)
    elif isinstance(value, int | float) and (name.endswith("_s") or name in ("seconds", "duration", "time")):
        yield value


def test_namespaces_and_links_are_removed_even_after_a_failure() -> None:
    with suppress(ZeroDivisionError), network("left", "right") as net:
        net.link("left", "right")
        raise ZeroDivisionError
    namespaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    links = subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout
    assert f"rageval-{os.getpid()}-" not in namespaces
    assert f"rv{os.getpid()}" not in links
