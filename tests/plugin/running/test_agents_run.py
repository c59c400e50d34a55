"""An agent with a model over HTTP: replay, repeats, two workers, interrupt and resume."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.projects.agent_project import SUITE, agents
from support.projects.model_projects import KEY, stop
from support.projects.rag_project import Mode, Project, bare, case
from support.servers.openai_replies import last_user
from support.servers.openai_server import Fault, OpenAIServer

COUNT = 8
CASES = [case(f"q{number}", f"When was the lighthouse of Torhaven built, {number}?", "1884") for number in range(COUNT)]


def steps(body: dict[str, Any]) -> str:
    """Reply like a model that searches once, looks up once and answers."""
    prompt = last_user(body)
    if "Observation 2:" in prompt:
        return "Now I know.\nAction 3: Finish[1884]"
    if "Observation 1:" in prompt:
        return "I need the year.\nAction 2: Lookup[built]\nObservation 2: made up"
    return "I need the port.\nAction 1: Search[Torhaven]"


def agent_project(project: Project, server: OpenAIServer, *ini: str, suite: str = SUITE) -> Project:
    server.reply = steps
    params = (f"    api_base = {server.base_url}", f"    api_key = {KEY}")
    return agents(
        project, "rag_system = react", "rag_model = openai/m", "rag_model_params =", *params, *ini,
        cases=CASES, suite=suite,
    )  # fmt: skip


def test_a_recorded_agent_replays_without_the_network(project: Project, openai_server: OpenAIServer) -> None:
    agent_project(project, openai_server)
    first = project.run("--rag-record-mode", "all")
    assert first.status == 0, first.text
    assert (first.results["usage"]["calls"], len(openai_server.requests)) == (3 * COUNT, 3 * COUNT)
    stop(openai_server)
    again = project.run("--rag-record-mode", "none")
    assert again.status == 0, again.text
    replayed = again.results["usage"]
    assert (replayed["calls"], replayed["replayed"]) == (3 * COUNT, 3 * COUNT)
    assert _untimed(again.results) == _untimed(first.results)


def _untimed(results: Any) -> Any:
    """Return results without times and without the marks of replayed calls."""
    copy = bare(results)
    for key in ("usage", "run"):
        del copy[key]
    for outcome in copy["outcomes"]:
        del outcome["calls"]
        for step in outcome["answer"]["trace"]:
            for key in ("replayed", "attempts"):
                step["detail"].pop(key, None)
    return copy


def test_the_answer_contains_steps_ranking_and_usage(project: Project, openai_server: OpenAIServer, mode: Mode) -> None:
    run = agent_project(project, openai_server).run(*mode)
    assert run.status == 0, run.text
    kinds = ["completion", "thought", "tool", "completion", "thought", "tool", "completion", "thought", "end"]
    for outcome in run.results["outcomes"]:
        answer = outcome["answer"]
        assert answer["text"] == "1884"
        assert [step["kind"] for step in answer["trace"]] == kinds
        assert [item["doc_id"] for item in answer["ranking"]] == ["Torhaven"]
        assert answer["trace"][-1]["detail"] == {"reason": "finished"}
        completions = [step["detail"] for step in answer["trace"] if step["kind"] == "completion"]
        assert answer["usage"]["prompt_tokens"] == sum(each["prompt_tokens"] for each in completions)
        assert outcome["calls"]["calls"] == 3
    assert all(request.body["stop"] == ["\nObservation"] for request in openai_server.requests)
    assert not any("made up" in last_user(request.body) for request in openai_server.requests)


def test_gold_is_in_no_request(project: Project, openai_server: OpenAIServer) -> None:
    agent_project(project, openai_server)
    project.data([{**each, "answers": ["canary-7f3a"], "qrels": {"Torhaven": 1}} for each in CASES])
    run = project.run()
    assert run.status == 0, run.text
    assert openai_server.requests
    assert not any("canary" in str(request.body) for request in openai_server.requests)


def test_each_repeat_makes_and_replays_its_own_calls(project: Project, openai_server: OpenAIServer) -> None:
    agent_project(project, openai_server)
    first = project.run("--rag-repeat", "2", "-n2", "--rag-record-mode", "all")
    assert first.status == 0, first.text
    assert len(openai_server.requests) == 2 * 3 * COUNT
    stop(openai_server)
    again = project.run("--rag-repeat", "2", "--rag-record-mode", "none")
    assert again.status == 0, again.text
    assert again.results["usage"]["replayed"] == 2 * 3 * COUNT
    assert len(again.results["outcomes"]) == 2 * COUNT


def _interrupt(project: Project, is_reached: Callable[[], bool]) -> None:
    """Start pytest, interrupt it when a condition holds, and check that it ends soon and leaves no process."""
    process = project.started("--rag-json", "results.json")
    deadline = time.monotonic() + 60
    while not is_reached() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    start = time.perf_counter()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(30) == 2, (project.path / "output.txt").read_text()
    assert time.perf_counter() - start < 2
    with pytest.raises(ProcessLookupError):  # its process group has ended
        os.killpg(process.pid, 0)
    output = (project.path / "output.txt").read_text()
    assert "never awaited" not in output
    assert "INTERNALERROR" not in output


def test_an_interrupt_ends_an_agent_in_the_middle_of_a_model_call(
    project: Project, openai_server: OpenAIServer
) -> None:
    agent_project(project, openai_server)

    def plan(number: int, body: dict[str, Any]) -> Fault | None:
        return Fault("hang") if ", 5?" in last_user(body) and "Observation 1" in last_user(body) else None

    openai_server.plan = plan
    _interrupt(project, lambda: openai_server.statuses["hang"] == 1)
    _expect_resume(project, openai_server)


def test_an_interrupt_ends_an_agent_in_the_middle_of_a_tool(project: Project, openai_server: OpenAIServer) -> None:
    agent_project(project, openai_server, "rag_environments =", "    desk: desk:Desk")
    project.file(
        "desk.py",
        """
        import os, time

        class Desk:
            def Search(self, title: str) -> str:
                return title

            def Lookup(self, keyword: str) -> str:
                while not os.path.exists("go.txt"):
                    open("waits.txt", "w").close()
                    time.sleep(0.01)
                return keyword
        """,
    )
    _interrupt(project, (project.path / "waits.txt").exists)
    _expect_resume(project, openai_server)


STOPS = """
    import pytest

    def pytest_runtest_setup(item):
        if "q1" in item.name:
            pytest.exit("stopped")
"""


def _expect_resume(project: Project, server: OpenAIServer) -> None:
    """Resume the run: all cases are scored, and paid calls are not repeated."""
    before = len(server.requests)
    assert project.read()["run"]["interrupted"] is True
    server.plan = None
    (project.path / "go.txt").touch()
    resumed = project.run("--rag-resume", fresh=False)
    assert resumed.status == 0, resumed.text
    assert set(resumed.statuses.values()) == {"scored"}
    assert len(resumed.outcomes) == COUNT
    assert len(server.requests) - before < 3 * COUNT


OUTAGE = """
    def Search(title: str) -> str:
        CALLS.append(title)
        if len(CALLS) > 2:
            raise ConnectionRefusedError("the search server is down")
        return title

    def Lookup(keyword: str) -> str:
        return keyword

    CALLS = []
    TOOLS = [Search, Lookup]
"""


@pytest.mark.parametrize("agent", ["react", "function_calling", "dfsdt", "pal"])
def test_a_run_is_not_resumed_after_a_change_of_the_agents_prompts(project: Project, agent: str) -> None:
    agents(project, "rag_systems =", f"    mine: {agent}@script:script.toml; prompts=prompts.toml", cases=CASES[:2])
    project.file("script.toml", '[[reply]]\ntext = "1884"\n')
    project.file("prompts.toml", 'example = ["First."]\n')
    project.file("conftest.py", STOPS)
    assert project.run("--rag-system", "mine").status == 2
    project.file("conftest.py", "")
    project.file("prompts.toml", 'example = ["Second."]\n')
    run = project.run("--rag-system", "mine", "--rag-resume", fresh=False, json_path=None)
    assert run.status == 4
    assert "its system differs: the files of mine has changed" in str(run.result.stderr)


def test_an_unavailable_tool_is_an_error_and_changes_no_score(project: Project, openai_server: OpenAIServer) -> None:
    agent_project(project, openai_server, "rag_environments =", "    desk: desk:TOOLS", "rag_concurrency = 1")
    project.file("desk.py", OUTAGE)
    run = project.run("--rag-gate", "error_rate <= 0.01", "--rag-gate", "has_answer >= 0.9")
    assert run.status == 1
    assert [outcome["error_type"] for outcome in run.results["outcomes"]] == [None] * 2 + ["tool_unavailable"] * 6
    assert {expr: gate["status"] for expr, gate in run.gates.items()} == {
        "error_rate <= 0.01": "failed",
        "has_answer >= 0.9": "passed",
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("r: react; max_steps=0", "rag_systems: r has max_steps=0; write a whole number of 1 or more"),
        ("r: react; max_time=-1", "rag_systems: r has max_time=-1; write a number of seconds above 0"),
        ("r: react; compat=rgb", "rag_systems: r has compat=rgb; write compat=reval, or remove it"),
        ("r: react; maxsteps=3", "rag_systems: r has the unknown option 'maxsteps'; did you mean 'max_steps'?"),
        ("r: react; prompts=p.toml", "ERROR: p.toml:1: unknown key 'sytem'; did you mean 'system'?"),
        ("r: react; environment=desk", "unknown environment 'desk'; known: wiki"),
    ],
)
def test_an_invalid_option_ends_the_session_before_anything_runs(project: Project, line: str, message: str) -> None:
    agents(project, "rag_systems =", f"    {line}").file("p.toml", 'sytem = "x"')
    run = project.run("--rag-system", "r", json_path=None)
    text = " ".join(f"{run.result.stdout.str()}{run.result.stderr.str()}".split())
    assert run.status == 4, text
    assert message in text
    assert "Traceback" not in text
