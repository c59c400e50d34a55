"""Agents that call tools over HTTP without the package mcp: replay, errors and refusals."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from support.projects.model_projects import KEY, asks, loaded, recordings, rows, stop  # noqa: F401
from support.projects.rag_project import Project, Run
from support.servers.openai_replies import calls_of_tools
from support.servers.openai_server import Fault, OpenAIServer

SYSTEM = ("--rag-system", "function_calling")
ROWS = rows("Orsay", "Louvre", "Nadar")
PAGES = [{"id": row["id"], "title": row["id"], "text": f"{row['id']} is in Paris."} for row in ROWS]


@pytest.fixture(autouse=True)
def _without_mcp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``import mcp`` fail as if the package were not installed."""
    monkeypatch.setitem(sys.modules, "mcp", None)


def replies(body: dict[str, Any]) -> Any:
    """Search the page that the question names; answer a question about Nadar without a search."""
    messages = body["messages"]
    tools = [each["function"]["name"] for each in body.get("tools", ())]
    if "Finish" in tools:
        reply = _search_or_answer(body, messages)
        answer = {"return_type": "give_answer", "final_answer": reply}
        return calls_of_tools(body, ("Finish", json.dumps(answer))) if isinstance(reply, str) else reply
    return _search_or_answer(body, messages)


def _search_or_answer(body: dict[str, Any], messages: list[dict[str, Any]]) -> Any:
    if messages[-1]["role"] == "tool":
        return messages[-1]["content"].removeprefix("> ")
    title = messages[-1]["content"].partition("Where is ")[2].rstrip("?")
    return "In Paris." if title == "Nadar" else calls_of_tools(body, ("Search", json.dumps({"title": title})))


def write_project(project: Project, server: OpenAIServer, model: str = "openai/m") -> None:
    """Make a project whose cases supply no passages, with the environment ``wiki`` over three pages."""
    server.reply = replies
    records = [{key: value for key, value in row.items() if key != "passages"} for row in ROWS]
    asks(project, server.base_url, records, "rag_corpus = jsonl:pages.jsonl", model=model)
    project.data(PAGES, "pages.jsonl")


def answers(run: Run) -> dict[str, str]:
    assert run.status == 0, run.text
    return {name: outcome["answer"]["text"] for name, outcome in run.outcomes.items()}


def kinds(run: Run, name: str) -> list[str]:
    return [step["kind"] for step in run.outcomes[name]["answer"]["trace"]]


@pytest.mark.parametrize(
    ("system", "model"),
    [("function_calling", "openai/m"), ("function_calling", "hosted_vllm/m"), ("dfsdt", "openai/m")],
)
def test_a_tool_agent_is_recorded_and_replays_without_the_network(
    project: Project, openai_server: OpenAIServer, system: str, model: str
) -> None:
    write_project(project, openai_server, model)
    first = project.run("--rag-system", system, "--rag-record-mode", "once")
    expected = {"Orsay": "Orsay is in Paris.", "Louvre": "Louvre is in Paris.", "Nadar": "In Paris."}
    assert answers(first) == expected
    steps = [kind for kind in kinds(first, "Orsay") if kind != "branch"]
    assert steps == ["completion", "tool", "completion", "end"]
    assert first.results["usage"]["calls"] == len(openai_server.requests) == 5
    assert openai_server.requests[0].body["tool_choice"] == "auto"
    stop(openai_server)
    again = project.run("--rag-system", system, "--rag-record-mode", "none", *(["-n2"] if system == "dfsdt" else []))
    assert answers(again) == expected
    assert again.results["usage"]["replayed"] == 5
    assert [kinds(again, name) for name in expected] == [kinds(first, name) for name in expected]


@pytest.mark.parametrize("system", ["function_calling", "capped"])
def test_gold_is_in_no_request_and_in_no_step(project: Project, openai_server: OpenAIServer, system: str) -> None:
    write_project(project, openai_server)
    canary = "canary-7f3a"
    project.data([{"id": "q", "question": "Where is Orsay?", "answers": [canary], "topic": "Funds"}])
    run = project.run("--rag-system", system, "-k", "q", "-o", "rag_systems=capped: dfsdt; max_calls=3")
    (outcome,) = run.results["outcomes"]
    assert (outcome["status"], len(outcome["answer"]["trace"]) > 3) == ("scored", True), run.text
    assert canary not in json.dumps([request.body for request in openai_server.requests])
    assert canary not in json.dumps(outcome["answer"])
    assert canary in json.dumps(run.results["instances"])


def test_recordings_without_tool_calls_are_replayed(project: Project, openai_server: OpenAIServer) -> None:
    write_project(project, openai_server)
    systems = (*SYSTEM, "--rag-system", "llm")
    args = ("-k", "Nadar", "--rag-record-mode")
    project.run(*systems, *args, "once")
    lines = recordings(project)
    assert len(lines) == 2
    assert all("tool_calls" not in line["response"] for line in lines)  # the form before tool calls were recorded
    stop(openai_server)
    again = project.run(*systems, *args, "none")
    assert (again.status, again.results["usage"]["replayed"]) == (0, 2), again.text


def test_a_server_that_refuses_tools_is_reported_in_one_sentence(project: Project, openai_server: OpenAIServer) -> None:
    write_project(project, openai_server)
    message = "registry.ollama.ai/library/llama2:latest does not support tools"
    openai_server.plan = lambda number, body: Fault("status", 400, message=message)
    run = project.run(*SYSTEM, "-k", "Orsay")
    (outcome,) = run.results["outcomes"]
    assert (run.status, outcome["status"], outcome["error_type"], len(openai_server.requests)) == (
        1, "error", "no_tools", 1
    )  # fmt: skip
    assert outcome["error"] == "the model openai/m takes no tools; use react, which needs none"
    assert f"{outcome['error']} [RAG404]" in run.prose


def test_a_model_failure_after_a_tool_call_is_an_error_without_an_answer(
    project: Project, openai_server: OpenAIServer
) -> None:
    write_project(project, openai_server)
    openai_server.plan = lambda number, body: Fault("status", 401) if body["messages"][-1]["role"] == "tool" else None
    run = project.run(*SYSTEM)
    assert run.statuses == {"Orsay": "error", "Louvre": "error", "Nadar": "scored"}
    assert KEY not in run.text
