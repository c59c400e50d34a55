"""Costs of models: reported, compared with gates, and bounded by a budget."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from support.projects.model_projects import BLOCKED, PRICES, asks, bodies, loaded, numbered, refused, rows  # noqa: F401
from support.projects.rag_project import Project
from support.servers.openai_server import Fault, OpenAIServer

TEN_WORDS = "It is in Paris as all of us do know"
DIME = {"input_cost_per_token": 0, "output_cost_per_token": 0.01, "max_tokens": 10}
"""Parameters of a call that costs at most ten cents: a cent per word of the reply."""

GATES = 'metrics=["accuracy"], gates=["accuracy >= 0", "error_rate <= 0"]'


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of temporary files for this test alone."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_an_unknown_price_is_reported_as_unknown_not_as_zero(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, rows("a"), arguments='gates=["cost_usd <= 1", "tokens > 0"]')
    run = project.run("-v")
    assert run.status == 1
    run.said("model calls: 1, 1 attempt * tokens * cost unknown")
    assert run.outcomes["a"]["answer"]["usage"]["cost_usd"] is None
    assert run.results["usage"]["cost_usd"] is run.results["usage"]["spent_usd"] is None
    assert run.gates["cost_usd <= 1"]["status"] == "failed"
    assert run.gates["cost_usd <= 1"]["value"] is None
    assert run.gates["tokens > 0"]["status"] == "passed"


def test_a_price_is_read_from_the_price_map(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, rows("a"), model="openai/gpt-4o-mini")
    usage = project.run().outcomes["a"]["answer"]["usage"]
    assert usage["cost_usd"] == pytest.approx(usage["prompt_tokens"] * 0.15e-6 + usage["completion_tokens"] * 0.6e-6)


def test_gates_bound_cost_tokens_and_latency(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply, openai_server.delay_s = TEN_WORDS, 0.03
    gates = ["cost_usd <= 0.31", "cost_usd <= 0.29", "tokens < 10", "latency_p95 >= 0.03", "latency_p50 < 0.03"]
    asks(project, openai_server.base_url, numbered(3), arguments=f"gates={gates}", params=DIME)
    run = project.run("--rag-matrix", "cost_usd")
    assert run.status == 1
    assert [gate["status"] for gate in run.results["gates"]] == ["passed", "failed", "failed", "passed", "failed"]
    assert run.gates["cost_usd <= 0.31"]["value"] == pytest.approx(0.3)
    assert run.results["matrix"]["total"]["mean"] == pytest.approx(0.3)


def test_a_failed_call_is_reported_and_costs_nothing(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.plan = lambda number, body: Fault("status", 400) if number == 1 else None
    openai_server.reply = TEN_WORDS
    asks(project, openai_server.base_url, numbered(2), params=DIME)
    run = project.run("-v", "--rag-concurrency", "1")
    assert run.results["usage"]["cost_usd"] == pytest.approx(0.1)
    run.said("model calls: 2, 2 attempts * cost $0.1000")


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_budget_stops_calls_before_it_is_exceeded(
    project: Project, openai_server: OpenAIServer, args: tuple[str, ...], temporary: Path
) -> None:
    openai_server.reply, openai_server.delay_s = TEN_WORDS, 0.02
    asks(project, openai_server.base_url, numbered(16), arguments=GATES, params=DIME)
    run = project.run("--rag-budget-usd", "0.55", *args)
    assert run.status == 1, run.text
    assert len(openai_server.requests) == 5
    assert run.results["usage"]["spent_usd"] == pytest.approx(0.5)
    assert sorted(run.statuses.values()) == ["scored"] * 5 + ["skipped"] * 11
    for outcome in run.results["outcomes"]:
        if outcome["status"] == "skipped":
            assert outcome["error_type"] == "budget"
            assert outcome["calls"]["attempts"] == 0
            assert outcome["error"].startswith(
                "the budget of $0.55 would be passed by a call that may cost $0.1, with $0."
            )
            assert outcome["error"].endswith("raise --rag-budget-usd, and go on with --rag-resume")
    assert {gate["status"] for gate in run.results["gates"]} == {"failed"}
    run.said(
        "11 cases were not asked: the budget of $0.55 would be passed by a call *",
        "rag: 2 of 2 gates failed - 1 cause*",
        "*16 cases, 0 errors, 11 skipped, *",
    )
    assert "Traceback" not in run.text + run.result.stderr.str()
    assert not list(temporary.glob("rageval-*"))


def test_a_sufficient_budget_skips_no_case(project: Project, openai_server: OpenAIServer, temporary: Path) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, numbered(16), arguments=GATES, params=DIME)
    run = project.run("--rag-budget-usd", "0.25")
    assert (run.status, len(openai_server.requests)) == (0, 16), (
        run.text
    )  # calls wait for the money that others reserve
    assert run.results["usage"]["spent_usd"] == pytest.approx(0.16)
    assert not list(temporary.glob("rageval-*"))


def test_replayed_calls_need_no_budget(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = TEN_WORDS
    asks(project, openai_server.base_url, numbered(4), "rag_record_mode = new_episodes", params=DIME)
    assert project.run().status == 0
    project.data(numbered(6))
    run = project.run("--rag-budget-usd", "0.1", "--rag-gate", "n >= 6")
    assert (run.status, len(openai_server.requests)) == (1, 5)
    assert (run.results["usage"]["spent_usd"], run.results["usage"]["replayed"]) == (pytest.approx(0.1), 4)


def test_a_budget_also_covers_the_judge(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = lambda body: (
        '{"reason": "so it is", "label": "answered"}' if body["model"] == "j" else TEN_WORDS
    )
    judge = ["rag_judge_model = openai/j", "rag_judge_params ="]
    params = {"api_base": openai_server.base_url, "api_key": "k-0123456789", **DIME}
    judge += [f"    {name} = {value}" for name, value in params.items()]
    metrics = 'metrics=["accuracy", "rejection_rate_judged"]'
    asks(project, openai_server.base_url, rows("a", "b"), *judge, arguments=metrics, params=DIME)
    run = project.run("--rag-budget-usd", "0.15", "--rag-concurrency", "1")
    assert [body["model"] for body in bodies(openai_server)] == ["m"]
    assert run.statuses == {"a": "skipped", "b": "skipped"}
    assert run.results["usage"]["spent_usd"] == pytest.approx(0.1)


def test_a_model_without_a_price_is_refused_once(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, numbered(3), arguments=GATES)
    assert refused(project, "--rag-budget-usd", "5") == (
        "the budget cannot be kept because the price of openai/m is unknown; "
        "give input_cost_per_token and output_cost_per_token in rag_model_params"
    )
    asks(project, openai_server.base_url, rows("a"), arguments=GATES, params=DIME)
    run = project.run("--rag-budget-usd", "50")
    assert (run.status, run.statuses) == (0, {"a": "scored"}), run.text


def test_a_model_fixture_without_a_price_is_not_asked(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, rows("a"), arguments=GATES)
    project.file("conftest.py", """
        import pytest
        from pytest_rageval.testing import ScriptedLLM

        @pytest.fixture(scope="session")
        def rag_llm():
            return ScriptedLLM("Paris")
    """)  # fmt: skip
    run = project.run("--rag-budget-usd", "5")
    assert run.outcomes["a"]["status"] == "skipped"
    assert run.outcomes["a"]["error"].startswith(
        "the budget cannot be kept because the price of ScriptedLLM is unknown"
    )
    asks(project, openai_server.base_url, rows("a"), arguments=GATES, params=DIME)
    run = project.run("--rag-budget-usd", "50")
    assert (run.status, run.statuses) == (0, {"a": "scored"}), run.text


def test_without_max_tokens_the_longest_possible_reply_is_assumed(
    project: Project, openai_server: OpenAIServer
) -> None:
    mini = 16_384 * 0.6e-6  # US dollars of the model's longest reply
    openai_server.reply = lambda body: "word " * 10_000
    asks(project, openai_server.base_url, numbered(6), arguments=GATES, model="openai/gpt-4o-mini")
    run = project.run("--rag-budget-usd", str(2.1 * mini))
    assert len(openai_server.requests) == 2
    assert 0 < run.results["usage"]["spent_usd"] < 2.1 * mini
    assert not any("max_tokens" in body for body in bodies(openai_server))
    (error,) = {outcome["error"] for outcome in run.results["outcomes"] if outcome["status"] == "skipped"}
    assert error.endswith(
        "(the longest possible reply of openai/gpt-4o-mini is assumed; give a lower max_tokens in rag_model_params)"
    )


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_missing_max_tokens_is_refused_once(
    project: Project, openai_server: OpenAIServer, args: tuple[str, ...]
) -> None:
    asks(project, openai_server.base_url, numbered(3), arguments=GATES, params=PRICES)
    sentence = (
        "the budget cannot be kept because it is unknown how long a reply of openai/m may be; give max_tokens in "
    )
    assert refused(project, "--rag-budget-usd", "1", *args) == sentence + "rag_model_params"
    assert openai_server.requests == []
    assert project.run("--rag-budget-usd", "1", "--rag-system", "extractive").status == 0  # asks no model
    assert project.run("--rag-budget-usd", "1", "--rag-dry-run").status == 0


@pytest.mark.parametrize("panel", [(), ("rag_judges = rejection_rate_judged: openai/j, openai/k",)])
def test_a_judge_without_max_tokens_is_refused(
    project: Project, openai_server: OpenAIServer, panel: tuple[str, ...]
) -> None:
    judge = ["rag_judge_model = openai/j", "rag_judge_params =", *(f"    {name} = {PRICES[name]}" for name in PRICES)]
    metrics = 'metrics=["accuracy", "rejection_rate_judged"]'
    asks(project, openai_server.base_url, rows("a"), *judge, *panel, arguments=metrics, params=DIME)
    sentence = refused(project, "--rag-budget-usd", "1")
    assert sentence.endswith("how long a reply of openai/j may be; give max_tokens in rag_judge_params")
    asks(project, openai_server.base_url, rows("a"), *judge, arguments=GATES, params=DIME)
    assert project.run("--rag-budget-usd", "1").status == 0  # no metric asks the judge


def test_recordings_need_no_max_tokens(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, rows("a"), "rag_record_mode = new_episodes", arguments=GATES, params=PRICES)
    refused(project, "--rag-budget-usd", "1")
    assert project.run().status == 0
    run = project.run("--rag-budget-usd", "1")
    assert (run.status, len(openai_server.requests)) == (0, 1), run.text
    assert project.run("--rag-budget-usd", "1", "--rag-record-mode", "none").status == 0
    refused(project, "--rag-budget-usd", "1", "--rag-record-mode", "all")


def test_a_budget_without_the_price_map_of_litellm_needs_a_price(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", numbered(3), model="openai/gpt-4o-mini")
    project.file("conftest.py", BLOCKED)
    run = project.run("--rag-budget-usd", "1", forked=True)
    assert (run.status, run.results) == (pytest.ExitCode.USAGE_ERROR, None)
    sentence = "the price of openai/gpt-4o-mini is unknown; give input_cost_per_token and"
    assert sentence in run.result.stderr.str()


@pytest.mark.parametrize("text", ["-1", "nan", "much", "inf"])
def test_an_invalid_budget_is_refused(project: Project, text: str) -> None:
    run = project.run(f"--rag-budget-usd={text}")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert f"argument --rag-budget-usd: '{text}' is not an amount of 0 or more US dollars" in run.result.stderr.str()
