"""The environment ``mcp`` in sessions: one server per process, recordings and shutdown."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, bare, case

pytest.importorskip("mcp.server.mcpserver", reason="the package mcp 2 is not installed")

from support.servers.mcp_processes import COMMAND, alive, noted, served

CONFTEST = """
    import json

    def build(parts):
        async def answer(query):
            with parts.environments.of_case().open() as tools:
                texts = []
                for name, arguments in json.loads(query.question):
                    texts.append((await tools.run(name, arguments)).text)
            return " | ".join(texts)
        return answer

    build.uses_environments = True

    def pytest_rageval_register(registry):
        registry.systems.register("agent", build)
"""
"""A conftest that registers a system; the question lists the tools that it calls with their arguments."""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["has_answer"], passages="retrieved", gates=["error_rate <= 0.1"])
    def test_it(rag): ...
"""


SHUTDOWN_S = 4.0
"""Limit in seconds; an idle machine takes less than 2."""


def asks(*calls: tuple[str, dict[str, Any]]) -> str:
    return json.dumps(calls)


MUSEUM = asks(("opening", {"place": "museum"}))
ROWS = [
    case("q1", MUSEUM, "museum opens at 9:00"),
    case("q2", asks(("opening", {"place": "bank", "day": 2}), ("pages", {})), "Algiers is a film"),
    case(
        "q3", asks(("opening", {"place": "bank", "day": 2}), ("refuse", {"why": "closed"})), "Error: ToolError: closed"
    ),
    case("q4", MUSEUM, "museum opens at 9:00"),
]


def write_project(
    project: Project, line: str, rows: list[dict[str, Any]] | None = None, conftest: str = CONFTEST
) -> Project:
    project.data(ROWS if rows is None else rows)
    project.file("conftest.py", conftest)
    project.file("test_it.py", TEST)
    environments = f"rag_environments =\n        crm: {line}" if line else ""
    project.file("pytest.ini", f"[pytest]\nrag_system = agent\n{environments}")
    return project


@pytest.fixture
def pid_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which each server process notes its id."""
    monkeypatch.setenv("RAGEVAL_DESK", str(project.path / "pids"))
    return project.path / "pids"


def test_one_server_per_process_starts_at_the_first_case_and_ends_with_the_session(
    project: Project, pid_file: Path, mode: Mode
) -> None:
    write_project(project, f"mcp; command={COMMAND}; allow=*")
    run = project.run(*mode)
    assert run.status == 0, run.text
    assert {outcome["scores"]["has_answer"]["value"] for outcome in run.results["outcomes"]} == {1.0}
    assert "blocks its event loop" not in run.text
    assert 1 <= len(noted(pid_file)) <= (2 if "-n2" in mode else 1)
    assert alive(noted(pid_file)) == []


@pytest.mark.parametrize("args", [("--collect-only",), ("--rag-dry-run",), ("--deselect", "test_it.py")])
def test_no_server_starts_without_a_case(project: Project, pid_file: Path, args: tuple[str, ...]) -> None:
    write_project(project, f"mcp; command={COMMAND}; allow=*").run(*args, json_path=None)
    assert noted(pid_file) == []


def test_a_replay_starts_no_server_and_gives_the_same_results(project: Project, pid_file: Path) -> None:
    write_project(project, f"mcp; command={COMMAND}; allow=opening,pages,refuse")
    live = project.run("--rag-record-mode", "all")
    assert live.status == 0, live.text
    assert sorted(os.listdir(project.path / "cassettes")) == ["tool-crm.jsonl"]
    assert len(noted(pid_file)) == 1
    for args in ((), ("-n2",)):
        again = project.run("--rag-record-mode", "none", *args)
        assert again.status == 0, again.text
        assert len(noted(pid_file)) == 1
        assert answers(again.results) == answers(live.results)
    listing = project.command("cassettes")
    assert listing.stdout.splitlines()[1].split() == ["tool-crm.jsonl", "5", "5", "0"]

    project.data([*ROWS, case("q5", asks(("opening", {"place": "zoo"})))])
    replay = project.run("--rag-record-mode", "none")
    assert replay.outcomes["q5"]["error_type"] == "not_recorded"
    replay.said("*no reply of environment 'crm' to this request is recorded (5 are in cassettes/tool-crm.jsonl); *")
    assert len(noted(pid_file)) == 1
    assert "zoo" in project.command("cassettes", "diff", "q5").stdout
    assert project.run("--rag-record-mode", "new_episodes").statuses["q5"] == "scored"
    assert len(noted(pid_file)) == 2


def answers(results: Any) -> list[Any]:
    return sorted(
        (outcome["case_id"], outcome["answer"]["text"], outcome["answer"]["trace"])
        for outcome in bare(results)["outcomes"]
    )


def test_record_mode_none_without_recordings_starts_no_server(project: Project, pid_file: Path) -> None:
    run = write_project(project, f"mcp; command={COMMAND}; allow=*").run("--rag-record-mode", "none")
    assert {outcome["error_type"] for outcome in run.results["outcomes"]} == {"not_recorded"}
    assert noted(pid_file) == []


def test_record_false_calls_the_server_each_time(project: Project, pid_file: Path) -> None:
    write_project(project, f"mcp; command={COMMAND}; allow=*; record=false")
    for _ in range(2):
        assert project.run("--rag-record-mode", "once").status == 0
    assert len(noted(pid_file)) == 2
    assert not (project.path / "cassettes").exists()


def test_a_server_of_a_fixture_answers_within_the_process(project: Project) -> None:
    conftest = f"""
    import pytest
    from mcp.server.mcpserver import MCPServer
    {CONFTEST}

    def opening(place: str, day: int = 1) -> str:
        return place + " opens at 9:00"

    @pytest.fixture(scope="session")
    def rag_environments():
        server = MCPServer("desk")
        server.add_tool(opening)
        return {{"own": server}}
    """
    run = write_project(project, "", [ROWS[0]], conftest).run()
    assert run.status == 0, run.text
    assert run.outcomes["q1"]["answer"]["text"] == "museum opens at 9:00"


def test_the_ini_can_name_a_server_of_a_module(project: Project) -> None:
    project.file("own_desk.py", "from support.servers.mcp_desk import desk\n\nDESK = desk()\n")
    run = write_project(project, "own_desk:DESK; timeout=20").run()
    assert run.status == 0, run.text


@pytest.mark.parametrize("dies", ["stdio", "http"])
def test_cases_after_the_death_of_the_server_are_errors_and_no_score_changes(
    project: Project, tmp_path: Path, dies: str
) -> None:
    rows = [*ROWS[:2], case("q3", asks(("end", {}))), case("q4", MUSEUM), case("q5", MUSEUM)]
    with served(tmp_path) as (url, _):
        server = f"command={COMMAND}" if dies == "stdio" else f"url={url}"
        run = write_project(project, f"mcp; {server}; allow=*", rows).run("--rag-concurrency", "1")
    assert run.status == 1
    assert run.statuses == {"q1": "scored", "q2": "scored", "q3": "error", "q4": "error", "q5": "error"}
    errors = [run.outcomes[name] for name in ("q3", "q4", "q5")]
    assert [(each["error_type"], each["scores"]) for each in errors] == [("tool_unavailable", {})] * 3
    assert {run.outcomes[name]["scores"]["has_answer"]["value"] for name in ("q1", "q2")} == {1.0}
    gate = run.gates["error_rate <= 0.1"]
    assert (gate["status"], gate["value"], gate["n_errors"]) == ("failed", 0.6, 3)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_an_interrupt_ends_a_busy_server(project: Project, pid_file: Path, args: tuple[str, ...]) -> None:
    write_project(project, f"mcp; command={COMMAND}; allow=*", [*ROWS, case("q5", asks(("wait", {"seconds": 60})))])
    process = project.started("--rag-json", "results.json", *args)
    end = time.monotonic() + 30
    while len(project.lines()) < 4:
        assert time.monotonic() < end, (project.path / "output.txt").read_text()
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    start = time.monotonic()
    assert process.wait(20) == 2
    assert time.monotonic() - start < (SHUTDOWN_S if not args else 2 * SHUTDOWN_S)  # xdist waits for its workers, too
    assert noted(pid_file)
    assert alive(noted(pid_file), 0.5) == []
    results = project.read()
    assert results["run"]["interrupted"] is True


def test_an_interrupt_while_a_server_starts_ends_it_too(project: Project, pid_file: Path) -> None:
    command = f"sh -c 'echo $$ >> {pid_file} && exec sleep 60'"
    write_project(project, f"mcp; command={command}; allow=*")
    process = project.started()
    end = time.monotonic() + 30
    while not noted(pid_file):
        assert time.monotonic() < end, (project.path / "output.txt").read_text()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    start = time.monotonic()
    assert process.wait(20) == 2
    assert time.monotonic() - start < SHUTDOWN_S
    assert alive(noted(pid_file), 0.5) == []
