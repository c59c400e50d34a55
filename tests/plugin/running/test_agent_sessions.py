"""Agents in sessions: dry run, budget, repeats, conversations, look-ahead and replay."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import pytest
import pytrec_eval_ext  # noqa: F401 - pytester unloads what a run imports, and this module can be loaded only once
from support.projects.model_projects import KEY, asked, bodies, loaded, refused, stop, table  # noqa: F401
from support.projects.rag_project import Mode, Project, Row, bare, case
from support.projects.seeker_project import seeker_project
from support.servers.openai_replies import last_user
from support.servers.openai_server import OpenAIServer

import pytest_rageval.metrics.rankings.utility  # noqa: F401

DIME = {"input_cost_per_token": 0, "output_cost_per_token": 0.01, "max_tokens": 10}
"""Parameters of a call that costs at most ten cents: a cent per word of the reply."""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl"{arguments})
    def test_it(rag): ...
"""
SEARCH = "Search[Algiers] as ten words are what this reply must hold"
ANSWER = "It was made in 1938 as we all do know"


def numbered(count: int) -> list[Row]:
    return [case(f"q{at}", f"When was film {at} made?", "1938") for at in range(1, count + 1)]


def seeker_reply(body: Mapping[str, Any]) -> str:
    """Reply to the agent ``seeker``: search for a question, answer from a page."""
    return ANSWER if "1938" in last_user(dict(body)) else SEARCH


def react_reply(body: Mapping[str, Any]) -> str:
    """Reply to the agent ``react``, also in ten words."""
    if "1938" in last_user(dict(body)):
        return "It is there, I say.\nAction 2: Finish[1938] now thanks"
    return "I look for the film.\nAction 1: Search[Algiers] now please"


def write_project(
    project: Project,
    server: OpenAIServer,
    rows: list[Row],
    *ini: str,
    arguments: str = 'metrics=["accuracy"]',
    params: Mapping[str, object] = DIME,
) -> None:
    """Make a project whose agent, with at most 4 steps, asks the server."""
    model_params = {"api_base": server.base_url, "api_key": KEY, **params}
    lines = [
        "rag_model = openai/m",
        "rag_model_params =",
        *(f"    {key} = {value}" for key, value in model_params.items()),
    ]
    systems = ["rag_system = mini", "rag_systems =", "    mini: seeker; max_steps=4"]
    seeker_project(project, rows, TEST.replace("{arguments}", f", {arguments}"), *lines, *systems, *ini)
    server.reply = seeker_reply


def test_a_dry_run_counts_the_first_calls_and_bounds_the_later_ones(
    project: Project, openai_server: OpenAIServer
) -> None:
    metrics = 'metrics=["accuracy", "closed_book_accuracy"]'
    write_project(project, openai_server, numbered(3), "rag_record_mode = new_episodes", arguments=metrics)
    run = project.run("--rag-dry-run")
    assert (run.status, openai_server.requests) == (0, []), run.text
    counts = table(run)
    assert counts["mini", "answer"][:4] == ["openai/m", "3", "3", "0"]
    assert counts["mini", "answer"][5:] == ["30", "~0.3000"]
    assert counts["mini", "later steps"][:4] == ["openai/m", "3", "~9", "0"]
    assert counts["mini", "later steps"][5:] == ["90", "~0.9000"]
    assert counts["mini", "closed book"][:4] == ["openai/m", "3", "3", "0"]
    assert counts["all", ""][:2] == ["3", "~15"]
    assert "not seen" not in run.text
    assert not (project.path / ".rageval").exists()
    assert project.run("-k", "q1").status == 0
    again = table(project.run("--rag-dry-run"))
    assert again["mini", "answer"][:4] == ["openai/m", "3", "3", "1"], "the first call of q1 is recorded"


CHAIN = """
    [[action]]
    name = "query"
    do = "generate"
    prompt = "A query for: {question}"
    max_tokens = 5

    [[action]]
    name = "reply"
    do = "generate"
    model = "openai/other"
    prompt = "{query} {question}"
"""

LATER = {
    "react": ["openai/m", "1", "~9"],
    "function_calling": ["openai/m", "1", "~9"],
    "dfsdt": ["openai/m", "1", "~59"],
    "pal": None,
    "twice": ["openai/m", "1", "~2"],
    "rewrite": ["openai/other", "1", "1"],
    "llm": None,
    "closed_book": None,
}
"""The model, the cases and the calls of later steps of each system."""


def test_the_plan_of_each_built_in_system_matches_its_first_request(
    project: Project, openai_server: OpenAIServer
) -> None:
    aliases = ["    twice: pal; repairs=2", "    rewrite: chain:rewrite.toml", "rag_record_mode = new_episodes"]
    write_project(project, openai_server, numbered(1), *aliases)
    ini = project.path / "pytest.ini"
    ini.write_text(ini.read_text(encoding="utf-8").replace("rag_system = mini\n", ""), encoding="utf-8")
    project.file("rewrite.toml", CHAIN)
    project.data([case("q1", "When was film 1 made?", "1938", passages=[{"id": "a", "text": "It is of 1938."}])])
    openai_server.reply = "1938"
    systems = [f"--rag-system={name}" for name in LATER]
    before = table(project.run("--rag-dry-run", *systems))
    assert {name: before[name, "answer"][1:4] for name in LATER} == {name: ["1", "1", "0"] for name in LATER}
    assert {name: row and row[:3] for name in LATER for row in [before.get((name, "later steps"))]} == LATER
    assert before["rewrite", "answer"][5] == "5", "the longest reply of its first action"
    run = project.run(*systems)
    assert {outcome["status"] for outcome in run.results["outcomes"]} == {"scored"}, run.text
    after = table(project.run("--rag-dry-run", *systems))
    assert {name: after[name, "answer"][3] for name in LATER} == dict.fromkeys(LATER, "1")


def test_a_dry_run_checks_environments_only_if_no_fixture_provides_them(
    project: Project, openai_server: OpenAIServer
) -> None:
    write_project(project, openai_server, numbered(2))
    before = (project.path / "conftest.py").read_text(encoding="utf-8")
    fixture = "\nimport pytest\n\n@pytest.fixture\ndef rag_environments():\n    raise RuntimeError('made')\n"
    (project.path / "conftest.py").write_text(before + fixture, encoding="utf-8")
    run = project.run("--rag-dry-run")
    assert run.status == 0, run.text
    assert table(run)["mini", "answer"][:4] == ["openai/m", "2", "2", "0"]
    (project.path / "conftest.py").write_text(before, encoding="utf-8")
    project.data([{**row, "environment": "scholar"} for row in numbered(1)])
    assert refused(project, "--rag-dry-run").endswith("cases.jsonl:1: unknown environment 'scholar'; known: wiki")


def test_scripted_and_embedded_agents_cost_nothing_in_a_dry_run_and_a_budget(project: Project) -> None:
    test = TEST.replace("{arguments}", ', metrics=["accuracy"]')
    seeker_project(project, numbered(2), test, "rag_model = script:replies.toml")
    project.file("replies.toml", '[[reply]]\ntext = "1938"\n')
    for system in ("seeker", "react@embedded"):
        counts = table(project.run("--rag-dry-run", "--rag-system", system))
        assert [counts[system, what][1:3] for what in ("answer", "later steps")] == [["2", "2"], ["2", "~18"]]
        assert counts["all", ""][-1] == "~0.0000"
    run = project.run("--rag-system", "seeker", "--rag-system", "react@embedded", "--rag-budget-usd", "0.01")
    assert (run.status, set(run.statuses.values())) == (0, {"scored"}), run.text


@pytest.mark.parametrize(
    ("args", "reply"),
    [((), seeker_reply), (("-n2",), seeker_reply), (("--rag-system=react",), react_reply)],
    ids=["plain", "n2", "react"],
)
def test_a_budget_stops_an_agent_between_two_calls_and_skips_its_case(
    project: Project, openai_server: OpenAIServer, args: Mode, reply: Callable[[Mapping[str, Any]], str]
) -> None:
    gates = 'metrics=["accuracy"], gates=["accuracy >= 0", "error_rate <= 0"]'
    write_project(project, openai_server, numbered(8), arguments=gates)
    openai_server.delay_s, openai_server.reply = 0.02, reply
    run = project.run("--rag-budget-usd", "0.55", *args)
    assert run.status == 1, run.text
    assert len(openai_server.requests) == 5
    assert run.results["usage"]["spent_usd"] == pytest.approx(0.5)
    scored = [name for name, status in run.statuses.items() if status == "scored"]
    answers = [body for body in bodies(openai_server) if "1938" in last_user(body)]
    assert len(scored) == len(answers) <= 2
    assert {status for name, status in run.statuses.items() if name not in scored} == {"skipped"}
    for name, outcome in run.outcomes.items():
        if name not in scored:
            assert (outcome["error_type"], outcome["scores"]) == ("budget", {})
            assert outcome["error"].startswith("the budget of $0.55 would be passed by a call that may cost $0.1")
    assert {gate["status"] for gate in run.results["gates"]} == {"failed"}
    assert "step_limit" not in run.text
    openai_server.requests.clear()
    rest = project.run("--rag-resume", *args, fresh=False)
    assert set(rest.statuses.values()) == {"scored"}
    assert len(openai_server.requests) == 16 - 5, "calls that were paid for are not repeated"


def test_a_budget_needs_the_price_of_an_agents_calls(project: Project, openai_server: OpenAIServer) -> None:
    write_project(project, openai_server, numbered(1), params={"max_tokens": 10})
    sentence = refused(project, "--rag-budget-usd", "1")
    assert sentence.startswith("the budget cannot be kept because the price of openai/m is unknown; give input_cost")
    assert openai_server.requests == []


def test_each_repeat_replays_its_own_calls(project: Project, openai_server: OpenAIServer, mode: Mode) -> None:
    write_project(project, openai_server, numbered(2), "rag_record_mode = new_episodes")
    n_answers = count(1)

    def changing(body: dict[str, Any]) -> str:
        if "1938" not in last_user(body):
            return SEARCH
        return f"1938 said for the {next(n_answers)}. time"

    openai_server.reply = changing
    first = project.run("--rag-repeat", "3", *mode)
    assert first.status == 0, first.text
    texts = [outcome["answer"]["text"] for outcome in first.results["outcomes"]]
    assert len(set(texts)) == len(texts) == 6
    assert len(openai_server.requests) == 12
    stop(openai_server)
    again = project.run("--rag-repeat", "3", "--rag-record-mode", "none", *mode)
    assert [outcome["answer"]["text"] for outcome in again.results["outcomes"]] == texts
    assert {outcome["calls"]["replayed"] for outcome in again.results["outcomes"]} == {2}
    counts = table(project.run("--rag-repeat", "3", "--rag-dry-run", "--rag-record-mode", "none"))
    assert counts["mini", "answer"][:4] == ["openai/m", "6", "6", "6"]


def test_a_replay_gives_the_same_results(project: Project, openai_server: OpenAIServer) -> None:
    write_project(project, openai_server, numbered(3), "rag_record_mode = all")
    assert project.run().status == 0
    stop(openai_server)
    plain, parallel = (bare(project.run("--rag-record-mode", "none", *args).results) for args in ((), ("-n2",)))
    for results in (plain, parallel):
        del results["deployment"]  # times
    assert plain == parallel
    assert [each["calls"]["replayed"] for each in plain["outcomes"]] == [2, 2, 2]


def test_a_conversation_contains_the_agents_own_answers(project: Project, openai_server: OpenAIServer) -> None:
    history = [{"question": "When was the first film made?", "answer": "gold"}]
    rows = [
        case("d.1", "When was the first film made?", "1938", history=[], dialogue="d", round=1),
        case("d.2", "And the second film?", "1938", history=history, dialogue="d", round=2),
    ]
    write_project(project, openai_server, rows, arguments='metrics=["accuracy"], history="own"')
    openai_server.reply = lambda body: seeker_reply({"messages": [{"role": "user", "content": last_line(body)}]})
    run = project.run()
    assert (run.status, set(run.statuses.values())) == (0, {"scored"}), run.text
    (second,) = (body for body in bodies(openai_server) if last_line(body) == "And the second film?")
    assert second["messages"][0]["content"] == f"When was the first film made?\n{ANSWER}\nAnd the second film?"
    assert "gold" not in str(bodies(openai_server))
    counts = table(project.run("--rag-dry-run"))["mini", "answer"]
    assert counts[2:4] == ["2", "0"]


def last_line(body: dict[str, Any]) -> str:
    return last_user(body).rpartition("\n")[2]


def test_erag_asks_with_each_retrieved_document_alone(project: Project, openai_server: OpenAIServer) -> None:
    metrics = 'metrics=["accuracy", "erag:P@1"]'
    write_project(project, openai_server, [case("q1", "When was Algiers made?", "1938")], arguments=metrics)
    run = project.run()
    assert run.status == 0, run.text
    outcome = run.outcomes["q1"]
    assert [item["doc_id"] for item in outcome["answer"]["ranking"]] == ["Algiers"]
    assert {name: score["value"] for name, score in outcome["scores"].items()}["erag:P@1"] == 1.0
    single_document = [body for body in bodies(openai_server) if len(body["messages"]) == 1 and "\n" in last_user(body)]
    assert [last_user(body) for body in single_document] == ["Algiers is a film of 1938.\nWhen was Algiers made?"]
    counts = table(project.run("--rag-dry-run"))
    assert counts["mini", "each document"][:4] == ["openai/m", "1", "?", "0"]


def test_agents_are_asked_ahead_of_their_tests(project: Project, openai_server: OpenAIServer) -> None:
    write_project(project, openai_server, numbered(12))
    openai_server.delay_s = 0.05
    run = project.run()
    assert run.status == 0, run.text
    assert openai_server.peak > 4
    assert len(openai_server.requests) == 24
    for name, outcome in run.outcomes.items():
        (tool,) = (step for step in outcome["answer"]["trace"] if step["kind"] == "tool")
        first_call = next(step for step in outcome["answer"]["trace"] if step["kind"] == "completion")
        assert re.search(rf"film {name[1:]} made", str(first_call)), "each answer has its own steps"
        assert tool["detail"]["result"].startswith("Algiers is a film")
