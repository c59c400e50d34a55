"""Provider failures: which are retried, which are errors, and which stop the session."""

from __future__ import annotations

from collections import Counter, defaultdict
from time import monotonic
from typing import Any

import pytest
from support.projects.model_projects import BLOCKED, asked, asks, bodies, loaded, numbered, rows  # noqa: F401
from support.projects.rag_project import Project
from support.servers.openai_replies import last_user
from support.servers.openai_server import Fault, OpenAIServer

TEMPORARY = [
    Fault("status", 429, 0.05), Fault("status", 500), Fault("status", 503), Fault("status", 408),
    Fault("reset"), Fault("truncated_body"), Fault("malformed"), Fault("empty_choices"),
]  # fmt: skip


def test_temporary_failures_are_retried_and_lose_no_case(project: Project, openai_server: OpenAIServer) -> None:
    tries: Counter[str] = Counter()

    def plan(number: int, body: dict[str, Any]) -> Fault | None:
        name = last_user(body)
        tries[name] += 1
        return TEMPORARY[len(tries) % len(TEMPORARY)] if tries[name] == 1 else None

    openai_server.plan, openai_server.reply = plan, "Paris"
    asks(project, openai_server.base_url, numbered(16), arguments='gates=["error_rate <= 0", "accuracy >= 1"]')
    run = project.run("-v")
    assert run.status == 0, run.text
    assert [outcome["case_id"] for outcome in run.results["outcomes"]] == [row["id"] for row in numbered(16)]
    for outcome in run.results["outcomes"]:
        assert (outcome["status"], outcome["error"]) == ("scored", None)
        assert (outcome["calls"]["calls"], outcome["calls"]["attempts"]) == (1, 2)
        assert outcome["answer"]["trace"][0]["detail"]["attempts"] == 2
    assert set(tries.values()) == {2}
    run.said("model calls: 16, 32 attempts *")


def test_a_retry_waits_as_long_as_the_provider_asks(project: Project, openai_server: OpenAIServer) -> None:
    times: defaultdict[str, list[float]] = defaultdict(list)

    def plan(number: int, body: dict[str, Any]) -> Fault | None:
        times[last_user(body)].append(monotonic())
        return Fault("status", 429, "0.4") if len(times[last_user(body)]) == 1 else None

    openai_server.plan, openai_server.reply = plan, "Paris"
    asks(project, openai_server.base_url, numbered(3))
    run = project.run()
    assert run.status == 0, run.text
    assert [again - first >= 0.4 for first, again in times.values()] == [True] * 3
    latencies = [outcome["answer"]["usage"]["latency_s"] for outcome in run.results["outcomes"]]
    assert max(latencies) < 0.4  # of the successful call, without the wait


def test_a_permanent_failure_is_an_error_with_its_cause(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    openai_server.plan = lambda number, body: Fault("status", 500) if "q01" in last_user(body) else None
    gates = 'gates=["error_rate <= 0.25", "error_rate < 0.25", "accuracy >= 1"]'
    params = {"attempts": 2, "deadline": 30}
    asks(project, openai_server.base_url, numbered(4), arguments=gates, params=params)
    run = project.run("-v")
    assert run.status == 1
    assert run.statuses == {"q00": "scored", "q01": "error", "q02": "scored", "q03": "scored"}
    error = run.outcomes["q01"]
    assert error["error_type"] == "server_error"
    assert error["error"] == (
        "the model openai/m failed on its own side (failed on plan); try again later (tried twice)"
    )
    assert (error["answer"], error["scores"], error["calls"]["attempts"]) == (None, {}, 2)
    assert Counter(asked(openai_server)) == {"q00": 1, "q01": 2, "q02": 1, "q03": 1}
    assert [gate["status"] for gate in run.results["gates"]] == ["passed", "failed", "passed"]
    assert run.gates["accuracy >= 1"]["n"] == 3
    run.said("errors: 1 server_error", "*the model openai/m failed on its own side*")
    assert "Traceback" not in run.text


REFUSALS = {
    "context_length": (Fault("context_length"), "context_length", "was sent more than fits into its context"),
    "content_filter": (Fault("content_filter"), "content_filter", "filtered the content"),
    "bad request": (Fault("status", 400, message="no such seed"), "bad_request", "refused the request (no such seed)"),
}


def test_a_refused_request_is_not_retried(project: Project, openai_server: OpenAIServer) -> None:
    faults = {f"q{number:02}": refusal[0] for number, refusal in enumerate(REFUSALS.values())}
    openai_server.plan = lambda number, body: next((f for name, f in faults.items() if name in last_user(body)), None)
    asks(project, openai_server.base_url, numbered(4))
    run = project.run("-v")
    assert run.status == 1
    assert len(openai_server.requests) == 4
    assert run.statuses["q03"] == "scored"
    for name, (_, kind, cause) in zip(faults, REFUSALS.values(), strict=True):
        outcome = run.outcomes[name]
        assert (outcome["status"], outcome["error_type"], outcome["calls"]["attempts"]) == ("error", kind, 1)
        assert f"the model openai/m {cause}" in outcome["error"]
        assert "\n" not in outcome["error"]
    run.said("errors: 1 bad_request, 1 content_filter, 1 context_length")


TOOL_CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


def _reply(message: dict[str, Any], reason: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


EMPTY = {
    "q00": (_reply({"content": None}, "length"), "cut_off", "reached its token limit before it wrote an answer"),
    "q01": (_reply({"content": ""}, "stop"), "empty_reply", "sent an empty reply"),
    "q02": (_reply({"content": " \n"}, "stop"), "empty_reply", "sent an empty reply"),
    "q03": (_reply({"content": None, "tool_calls": [TOOL_CALL]}, "tool_calls"), "empty_reply", "called a tool"),
    "q04": (_reply({"content": None}, "content_filter"), "filtered", "had its reply removed by a content filter"),
}


@pytest.mark.parametrize("model", ["openai/m", "hosted_vllm/m"])
def test_a_reply_without_text_has_a_separate_error_kind(
    project: Project, openai_server: OpenAIServer, model: str
) -> None:
    openai_server.reply = lambda body: next(
        (reply for q, (reply, *_) in EMPTY.items() if q in last_user(body)), "Paris"
    )
    params = {"input_cost_per_token": 0.01, "output_cost_per_token": 0.1}
    asks(project, openai_server.base_url, numbered(6), "rag_record_mode = once", params=params, model=model)
    live = project.run("-v")
    replayed = project.run("-v", "--rag-record-mode=none")
    for run, attempts in ((live, 1), (replayed, 0)):
        assert run.status == 1
        assert run.statuses["q05"] == "scored"
        for name, (_, kind, problem) in EMPTY.items():
            outcome = run.outcomes[name]
            assert (outcome["status"], outcome["error_type"], outcome["scores"]) == ("error", kind, {})
            assert f"the model {model} {problem}" in outcome["error"]
            assert outcome["calls"]["attempts"] == attempts
            assert outcome["calls"]["cost_usd"] == pytest.approx(0.5)  # the provider charges for empty replies too
        run.said("errors: 3 empty_reply, 1 cut_off, 1 filtered")
    assert len(openai_server.requests) == 6


def test_a_refusal_is_an_answer_that_abstains(project: Project, openai_server: OpenAIServer) -> None:
    refusal = _reply({"content": None, "refusal": "I will not answer that."}, "stop")
    openai_server.reply = lambda body: refusal
    asks(project, openai_server.base_url, rows("a"), "rag_record_mode = once")
    for run in (project.run(), project.run("--rag-record-mode=none")):
        outcome = run.outcomes["a"]
        assert outcome["status"] == "scored"
        assert (outcome["answer"]["text"], outcome["answer"]["abstained"]) == ("I will not answer that.", True)


def test_a_reply_cut_off_in_its_text_is_scored_and_counted(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = lambda body: _reply({"content": "It is in Paris, which"}, "length")
    asks(project, openai_server.base_url, numbered(2))
    run = project.run()
    assert run.status == 0
    assert [outcome["scores"]["accuracy"]["value"] for outcome in run.results["outcomes"]] == [1.0, 1.0]
    run.said("cut off at the token limit and scored as they are: 2 answers")


def test_an_unreachable_address_is_an_error(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), params={"attempts": 2})
    run = project.run()
    assert (run.status, run.outcomes["a"]["error_type"]) == (1, "connection")
    assert run.outcomes["a"]["error"] == (
        "the model openai/m could not be reached, or broke the connection; check its address and the network "
        "(tried twice)"
    )


def test_a_model_that_takes_too_long_is_an_error(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.plan = lambda number, body: Fault("hang")
    asks(project, openai_server.base_url, rows("a"), params={"attempts": 2, "timeout": 0.1})
    outcome = project.run().outcomes["a"]
    assert (outcome["error_type"], outcome["calls"]["attempts"]) == ("timeout", 2)


JUDGE_INI = ("rag_judge_model = openai/judge", "rag_judge_params =", "    api_key = k-0123456789", "    attempts = 2")


def test_a_failed_judge_call_is_an_error_and_the_answer_is_stored(
    project: Project, openai_server: OpenAIServer
) -> None:
    openai_server.plan = lambda number, body: Fault("status", 503) if body["model"] == "judge" else None
    openai_server.reply = "Paris"
    judge_ini = (*JUDGE_INI, f"    api_base = {openai_server.base_url}")
    metrics = 'metrics=["accuracy", "rejection_rate_judged"], gates=["error_rate <= 0"]'
    asks(project, openai_server.base_url, rows("a"), *judge_ini, arguments=metrics)
    run = project.run()
    outcome = run.outcomes["a"]
    assert (run.status, outcome["status"], outcome["error_type"]) == (1, "error", "server_error")
    assert outcome["error"].startswith("the model openai/judge failed on its own side")
    assert (outcome["answer"]["text"], outcome["scores"]) == ("Paris", {})
    assert (outcome["calls"]["calls"], outcome["calls"]["attempts"]) == (2, 3)
    assert [body["model"] for body in bodies(openai_server)] == ["m", "judge", "judge"]
    assert run.gates["error_rate <= 0"]["value"] == 1.0


STOPPING_ERRORS = {
    401: "refused the credentials, or has none; set the provider's API key, and check that it may use the model",
    404: "is not known (failed on plan); check its name and provider, as in openai/gpt-4o-mini, and its address",
}


@pytest.mark.parametrize(("status", "args"), [(401, ()), (404, ()), (401, ("-n2",))], ids=["401", "404", "401-n2"])
def test_a_model_that_refuses_everything_stops_the_session(
    project: Project, openai_server: OpenAIServer, status: int, args: tuple[str, ...]
) -> None:
    openai_server.plan = lambda number, body: Fault("status", status)
    openai_server.delay_s = 0.02
    asks(project, openai_server.base_url, numbered(60), arguments='gates=["accuracy >= 0"]')
    run = project.run(*args, "--rag-concurrency", "4")
    assert run.status == 1, run.text
    assert f"! no call can succeed: the model openai/m {STOPPING_ERRORS[status]} !" in run.text
    assert 1 <= len(openai_server.requests) <= (8 if args else 4)
    assert run.gates["accuracy >= 0"]["status"] == "skipped"
    assert "Traceback" not in run.text + run.result.stderr.str()
    assert "warnings summary" not in run.text  # litellm has many
    errors = [outcome["error_type"] for outcome in run.results["outcomes"]]
    assert set(errors) == {"auth" if status == 401 else "not_found"}
    assert len(errors) == 1 or args


NAMES = {
    "nosuch/m": "the model nosuch/m is not known",
    "gpt-of-nobody": "the model gpt-of-nobody is not known",
}


@pytest.mark.parametrize("model", list(NAMES))
def test_a_model_name_unknown_to_litellm_stops_the_session(
    project: Project, openai_server: OpenAIServer, model: str
) -> None:
    asks(project, openai_server.base_url, numbered(3), model=model)
    run = project.run()
    assert (run.status, len(run.results["outcomes"])) == (1, 1), run.text
    run.said(f"*no call can succeed: {NAMES[model]}*; check its name and provider, as in openai/gpt-4o-mini*")
    assert not openai_server.requests
    assert "Traceback" not in run.text + run.result.stderr.str()


def test_a_model_without_a_key_stops_the_session(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asks(project, "http://127.0.0.1:9/v1", numbered(3), params={"api_key": '""'})
    run = project.run()
    assert run.status == 1, run.text
    run.said("*no call can succeed: the model openai/m refused the credentials, or has none; set *")


def test_without_litellm_one_sentence_names_the_extra_to_install(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", numbered(3), model="anthropic/m")
    project.file("conftest.py", BLOCKED)
    run = project.run(forked=True)
    assert run.status == 1, run.text
    run.said("asking a model needs an optional dependency: pip install 'pytest-rageval[[]llm[]]' [[]RAG106]")
    assert sorted(run.statuses.values()) == ["error", "skipped", "skipped"]
    assert "Traceback" not in run.text + run.result.stderr.str()


def test_an_openai_compatible_server_is_asked_without_litellm(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, numbered(3))
    project.file("conftest.py", BLOCKED)
    run = project.run(forked=True)
    assert (run.status, set(run.statuses.values())) == (0, {"scored"}), run.text


OVERRIDE = """
    import pytest

    class Model:
        name = "mine"
        {method}

    @pytest.fixture(scope="session")
    def {fixture}():
        return {value}
"""

OVERRIDES = {
    "no model": ("x = 1", "Model()", "rag_llm gave <conftest.Model object*; give an object with `async def complete"),
    "a text": ("x = 1", "'openai/m'", "rag_llm gave 'openai/m'; give an object with `async def complete"),
    "another type": (
        "async def complete(self, messages, **params): return 'Paris'",
        "Model()",
        "the model mine returned 'Paris'; return a Completion",
    ),
    "not async": (
        "def complete(self, messages, **params): return 'Paris'",
        "Model()",
        "the model mine returned 'Paris'; return a Completion from `async def complete(messages, [*][*]params)`",
    ),
    "an exception": (
        "async def complete(self, messages, **params): raise KeyError('choices')",
        "Model()",
        "system 'llm' failed on case 'q00': KeyError: 'choices'",
    ),
}


@pytest.mark.parametrize("name", list(OVERRIDES))
def test_an_invalid_replacement_of_a_model_is_reported(project: Project, name: str) -> None:
    method, value, sentence = OVERRIDES[name]
    asks(project, "http://127.0.0.1:9/v1", numbered(3))
    text = OVERRIDE.replace("{method}", method).replace("{value}", value).replace("{fixture}", "rag_llm")
    project.file("conftest.py", text)
    run = project.run()
    assert run.status == 1, run.text
    run.said(f"*{sentence}*")
    assert not any(outcome["status"] == "scored" for outcome in run.results["outcomes"])


@pytest.mark.parametrize(
    ("method", "value", "kind", "sentence"),
    [
        ("x = 1", "Model()", "system_build", "rag_judge gave <conftest.Model object"),
        (
            "async def complete(self, messages, **params): return 'fine'",
            "Model()",
            "judge_error",
            "judge 'rejection_rate_judged' failed on case 'q00': SystemContractError: the model mine returned 'fine'",
        ),
        (
            "async def complete(self, messages, **params): raise KeyError('choices')",
            "Model()",
            "judge_error",
            "judge 'rejection_rate_judged' failed on case 'q00': KeyError: 'choices'",
        ),
    ],
    ids=["no-model", "another-type", "an-exception"],
)
def test_an_invalid_replacement_of_a_judge_is_reported(
    project: Project, method: str, value: str, kind: str, sentence: str
) -> None:
    asks(project, "http://127.0.0.1:9/v1", numbered(1), model="", arguments='metrics=["rejection_rate_judged"]')
    text = OVERRIDE.replace("{method}", method).replace("{value}", value).replace("{fixture}", "rag_judge")
    project.file("conftest.py", text)
    run = project.run()
    assert (run.status, run.outcomes["q00"]["error_type"]) == (1, kind), run.text
    assert sentence in run.outcomes["q00"]["error"]
    assert (run.outcomes["q00"]["answer"] is None) == (kind == "system_build")
