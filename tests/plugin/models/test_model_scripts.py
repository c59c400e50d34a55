"""``script:FILE.toml`` replies for a model without Python, a key or recordings."""

from __future__ import annotations

import pytest
from support.projects.model_projects import loaded, refused, rows, stop  # noqa: F401
from support.projects.rag_project import Mode, Project
from support.servers.openai_replies import calls_of_tools
from support.servers.openai_server import OpenAIServer

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag):
        ...
"""
AGENT = """
    import asyncio, pytest

    TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]

    @pytest.fixture(scope="session")
    def rag_system(rag_llm):
        async def run(query):
            messages = [{"role": "user", "content": query.question}]
            while True:
                reply = await rag_llm.complete(messages, tools=TOOLS, tool_choice="auto")
                if not reply.tool_calls:
                    return reply.text
                messages.append(reply.message)
                for call in reply.tool_calls:
                    await asyncio.sleep(0.001)
                    result = f"{call.name} {call.arguments}: it is in Paris"
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        DEFINE
"""
ASYNC, SYNC = "return run", "return lambda query: asyncio.run(run(query))"
SCRIPT = """
    [[reply]]
    nth = 1
    tool = "search"
    arguments = { title = "Orsay" }

    [[reply]]
    nth = 2
    when = 'search {"title": "Orsay"}'
    tool = "search"
    arguments = { title = "Paris" }

    [[reply]]
    nth = 3
    when = "it is in Paris"
    text = "Paris"
"""


def agent_project(project: Project, define: str = ASYNC, model: str = "script:replies.toml", *ini: str) -> None:
    """Make a project whose agent calls tools of the session's model."""
    project.file("pytest.ini", "\n".join(["[pytest]", f"rag_model = {model}", *ini]))
    project.data(rows(*(f"q{number}" for number in range(40))))
    project.file("conftest.py", AGENT.replace("DEFINE", define))
    project.file("test_it.py", TEST)
    project.file("replies.toml", SCRIPT)


@pytest.mark.parametrize(
    ("define", "args"),
    [
        (ASYNC, ()),
        (ASYNC, ("--rag-concurrency", "1")),
        (ASYNC, ("-n2", "--rag-repeat", "2")),
        (SYNC, ()),
        (SYNC, ("--rag-concurrency", "16")),
    ],
)
def test_an_agent_receives_the_replies_of_each_case_in_order(project: Project, define: str, args: Mode) -> None:
    agent_project(project, define)
    run = project.run(*args)
    assert run.status == 0, run.text
    outcomes = run.results["outcomes"]
    assert {(o["answer"]["text"], o["scores"]["accuracy"]["value"], o["calls"]["calls"]) for o in outcomes} == {
        ("Paris", 1.0, 3)
    }
    assert len(outcomes) == (80 if "2" in args else 40)


def test_a_script_is_never_recorded_and_costs_nothing(project: Project) -> None:
    agent_project(project)
    run = project.run("--rag-record-mode", "once", "--rag-budget-usd", "0.01")
    assert (run.status, (project.path / "cassettes").exists()) == (0, False), run.text
    usage = run.results["usage"]
    assert (usage["calls"], usage["replayed"], usage["cost_usd"], usage["prompt_tokens"]) == (120, 0, 0.0, None)
    assert project.run("--rag-record-mode", "none").status == 0


def test_a_request_without_a_reply_is_an_error_that_shows_its_last_message(project: Project) -> None:
    agent_project(project)
    project.file("replies.toml", SCRIPT.replace("it is in Paris", "it is in Rome"))
    run = project.run("--rag-limit", "1")
    (outcome,) = run.results["outcomes"]
    assert (outcome["status"], outcome["error_type"]) == ("error", "no_reply")
    last_message = """the last tool message is 'search {"title": "Paris"}: it is in Paris'"""
    assert (
        f"script:replies.toml has no reply to request 3 of this case: {last_message}; add a [[reply]]"
        in outcome["error"]
    )


def test_a_scripted_error_is_raised_at_once(project: Project) -> None:
    agent_project(project)
    project.file("replies.toml", '[[reply]]\nwhen = "q1?"\nraise = "rate_limited"\n\n[[reply]]\ntext = "Paris"')
    run = project.run("--rag-limit", "3")
    assert run.statuses == {"q0": "scored", "q1": "error", "q2": "scored"}
    assert run.outcomes["q1"]["error_type"] == "rate_limited"
    assert run.results["usage"]["attempts"] == 3


def test_the_built_in_system_and_a_judge_may_use_scripts(project: Project) -> None:
    project.file("pytest.ini", "[pytest]\nrag_judge_model = script:judge.toml")
    project.data(rows("a", "b"))
    project.file("test_it.py", TEST.replace('["accuracy"]', '["accuracy", "accuracy_judged"]'))
    project.file("replies.toml", '[[reply]]\nwhen = "Where is a?"\ntext = "Paris"\n[[reply]]\ntext = "Rome"')
    project.file(
        "judge.toml",
        """
        [[reply]]
        when = "Where is a?"
        nth = 1
        text = '{"reason": "it is there", "label": "right"}'

        [[reply]]
        text = '{"reason": "it is not there", "label": "wrong"}'
        """,
    )
    run = project.run("--rag-model", "script:replies.toml")
    assert run.status == 0, run.text
    assert {name: outcome["scores"]["accuracy"]["value"] for name, outcome in run.outcomes.items()} == {"a": 1, "b": 0}
    judge_scores = {name: outcome["scores"]["accuracy_judged"] for name, outcome in run.outcomes.items()}
    assert {name: score["value"] for name, score in judge_scores.items()} == {"a": 1.0, "b": 0.0}, judge_scores


def test_a_script_of_the_command_line_is_relative_to_the_invocation_dir(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_project(project)
    (project.path / "sub").mkdir()
    project.file("replies.toml", '[[reply]]\ntext = "Rome"')
    project.file("sub/replies.toml", '[[reply]]\ntext = "Paris"')
    monkeypatch.chdir(project.path / "sub")
    for args, answer in ((("--rag-model", "script:replies.toml"), "Paris"), ((), "Rome")):
        run = project.run("..", "--rag-limit", "1", *args)
        assert [outcome["answer"]["text"] for outcome in run.results["outcomes"]] == [answer], run.text


EMPTY = ("", "replies.toml:1: a script holds one or more [[reply]] tables; add one")
BROKEN = ("[[reply]]\nnth = ", "replies.toml:2: this is not valid TOML: Invalid value (at line 2, column 7)")
UNKNOWN = ('[[reply]]\ntextt = "a"', "replies.toml:2: unknown key 'textt'; did you mean 'text'?")


@pytest.mark.parametrize(
    ("fault", "args"),
    [(EMPTY, ()), (BROKEN, ()), (UNKNOWN, ()), (UNKNOWN, ("-n2",)), (UNKNOWN, ("--collect-only",))],
)
def test_a_bad_script_is_refused_before_anything_runs(project: Project, fault: tuple[str, str], args: Mode) -> None:
    agent_project(project)
    text, message = fault
    project.file("replies.toml", text)
    assert refused(project, *args) == message


def test_a_missing_script_is_refused(project: Project) -> None:
    agent_project(project)
    message = "the model script:gone.toml cannot be used: there is no file 'gone.toml'; correct the path"
    assert refused(project, "--rag-model", "script:gone.toml") == message


def test_a_script_is_refused_as_embedding_model(project: Project) -> None:
    agent_project(project, ASYNC, "script:replies.toml", "rag_embedder_model = script:replies.toml")
    message = "rag_embedder_model is script:replies.toml, and a script embeds no texts; name another model"
    assert refused(project) == message


def test_a_panel_may_use_scripts(project: Project) -> None:
    panel = "rag_judges =\n    accuracy_judged: script:judges/one.toml, script:judges/two.toml"
    agent_project(project, ASYNC, "script:replies.toml", panel)
    project.file("test_it.py", TEST.replace('["accuracy"]', '["accuracy_judged"]'))
    for name, label in (("one", "right"), ("two", "wrong")):
        project.file(f"judges/{name}.toml", f"""[[reply]]\ntext = '{{"reason": "so", "label": "{label}"}}'""")
    run = project.run("--rag-limit", "2")
    assert run.status == 0, run.text
    votes = run.results["outcomes"][0]["scores"]["accuracy_judged"]["votes"]
    assert {vote["model"]: vote["label"] for vote in votes} == {
        "script:judges/one.toml": "right",
        "script:judges/two.toml": "wrong",
    }


def test_a_resumed_run_needs_the_same_script(project: Project) -> None:
    agent_project(project)
    project.file("replies.toml", SCRIPT.replace("nth = 1", 'nth = 1\n    when = "q0?"'))
    assert project.run("--rag-limit", "2").statuses == {"q0": "scored", "q1": "error"}
    project.file("replies.toml", SCRIPT)
    run = project.run("--rag-limit", "2", "--rag-resume", fresh=False, json_path=None)
    run.result.stderr.fnmatch_lines(["ERROR: *its system differs: the file of script:replies.toml has changed*"])
    assert run.status == 4


# The same agent over HTTP


def test_an_agent_over_http_is_recorded_and_replays_without_the_network(
    project: Project, openai_server: OpenAIServer
) -> None:
    def reply(body: dict[str, object]) -> object:
        messages = body["messages"]
        assert isinstance(messages, list)
        if messages[-1]["role"] == "tool":
            return "Paris"
        return calls_of_tools(body, ("search", '{"title": "Orsay"}'))

    openai_server.reply = reply  # type: ignore[assignment]
    at = f"rag_model_params =\n    api_base = {openai_server.base_url}\n    api_key = sk-loopback-0123456789"
    agent_project(project, ASYNC, "openai/m", at)
    first = project.run("--rag-record-mode", "once", "--rag-limit", "5")
    assert first.status == 0, first.text
    assert (first.results["usage"]["calls"], len(openai_server.requests)) == (10, 10)
    stop(openai_server)
    again = project.run("--rag-record-mode", "none", "--rag-limit", "5")
    assert again.status == 0, again.text
    assert again.results["usage"]["replayed"] == 10
    assert [o["answer"]["text"] for o in again.results["outcomes"]] == ["Paris"] * 5
