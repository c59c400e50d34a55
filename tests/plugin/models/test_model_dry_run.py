"""A dry run: what would be asked and what it may cost, with nothing asked and nothing written."""

from __future__ import annotations

import pytest
from support.projects.model_projects import BLOCKED, KEY, asks, loaded, numbered, rows, table  # noqa: F401
from support.projects.rag_project import Mode, Project, case
from support.servers.openai_server import OpenAIServer

PRICED = {"input_cost_per_token": 0, "output_cost_per_token": 0.01, "max_tokens": 10}
"""Params of calls that may cost ten cents each."""

STANDS_IN = """
    import pytest
    from pytest_rageval.testing import ScriptedLLM

    @pytest.fixture(scope="session")
    def rag_llm():
        raise RuntimeError("it is not even made")
"""

ASKED_ON = """
    from pytest_rageval import PromptedJudge

    def pytest_rageval_register(registry):
        registry.judges.register("brief", lambda sample: len(sample.answer.text) < 100)
        registry.judges.register("wise", lambda sample, model: 1.0)
        registry.systems.register("registered", lambda parts: lambda query: "Paris")
"""


def test_it_counts_and_asks_nothing(project: Project, openai_server: OpenAIServer, mode: Mode) -> None:
    judge = ("rag_judge_model = openai/gpt-4o", "rag_judge_params =", f"    api_base = {openai_server.base_url}",
             f"    api_key = {KEY}", "rag_record_mode = once")  # fmt: skip
    metrics = 'metrics=["accuracy", "rejection_rate_judged", "closed_book_accuracy"]'
    asks(project, openai_server.base_url, numbered(4), *judge, arguments=metrics, params=PRICED, model="openai/gpt-4o")
    project.file("own.py", 'raise_it = 1\ndef answer(query):\n    raise RuntimeError("asked")\n')
    names = ("llm", "closed_book", "extractive", "own:answer")
    systems = [part for name in names for part in ("--rag-system", name)]
    run = project.run("--rag-dry-run", "--rag-repeat", "2", *systems, *mode)
    assert run.status == 0, run.text
    assert (openai_server.requests, run.results) == ([], None)
    assert {path.name for path in project.path.iterdir()} <= {
        "cases.jsonl", "own.py", "pytest.ini", "test_it.py", "__pycache__", ".pytest_cache",
    }  # fmt: skip
    run.said("collected 32 items")
    assert "workers" not in run.text
    told = table(run)
    assert told["llm", "answer"][:3] + told["llm", "answer"][4:] == ["openai/gpt-4o", "8", "8", "1,528", "80", "0.8000"]
    assert told["closed_book", "answer"] == told["llm", "closed book"]
    judged = told["llm", "rejection_rate_judged"]
    assert judged[:4] == ["openai/gpt-4o", "8", "8", "0"]
    assert [cell[0] for cell in judged[4:]] == ["~"] * 3  # of an answer that is not there, without max_tokens
    assert told["extractive", "answer"] == ["–", "8", "0", "0", "0.0000"]
    assert told["own:answer", "answer"] == ["–", "8", "?", "0", "?", "?", "?"]
    assert told["all", ""][:2] == ["32", "80+?"]


def test_what_is_recorded_is_counted_and_costs_nothing(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, numbered(4), "rag_record_mode = new_episodes", params=PRICED)
    assert project.run().status == 0
    project.data(numbered(6))
    run = project.run("--rag-dry-run")
    assert len(openai_server.requests) == 4
    model, cases, calls, recorded, prompt, reply, dollars = table(run)["llm", "answer"]
    assert (model, cases, calls, recorded, reply, dollars) == ("openai/m", "6", "6", "4", "20", "~0.2000")
    assert prompt.startswith("~")  # openai/m has no tokenizer that is known
    assert table(project.run("--rag-dry-run", "--rag-repeat", "2"))["llm", "answer"][1:4] == ["12", "12", "4"]
    assert table(project.run("--rag-dry-run", "--rag-limit", "4"))["llm", "answer"][1:] == ["4", "4", "4", "0.0000"]
    assert table(project.run("--rag-dry-run", "--rag-record-mode", "all"))["llm", "answer"][3] == "0"


@pytest.mark.parametrize("record_mode", ["none", "once"])
def test_a_mode_that_forbids_asking_is_not_an_error(
    project: Project, openai_server: OpenAIServer, record_mode: str
) -> None:
    asks(project, openai_server.base_url, rows("a"), params=PRICED)
    assert project.run("--rag-record-mode", "once").status == 0
    project.data(rows("a", "b"))
    run = project.run("--rag-dry-run", "--rag-record-mode", record_mode)
    assert (run.status, table(run)["llm", "answer"][1:4]) == (0, ["2", "2", "1"])


def test_the_tokens_are_those_that_are_sent(project: Project, openai_server: OpenAIServer) -> None:
    from pytest_rageval.llm.backends.prices import count_tokens

    asks(project, openai_server.base_url, numbered(3), model="openai/gpt-4o-mini", params={"max_tokens": 5})
    told = table(project.run("--rag-dry-run"))["llm", "answer"]
    assert project.run().status == 0
    sent = [count_tokens("openai/gpt-4o-mini", seen.body["messages"]) for seen in openai_server.requests]
    assert told[4:6] == [f"{sum(tokens for tokens, _ in sent):,}", "15"]
    assert told[6] == f"{sum(tokens for tokens, _ in sent) * 0.15e-6 + 15 * 0.6e-6:.4f}"


def test_passages_that_are_to_be_found_make_it_an_estimate(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", [case("q1", "Where is Orsay?")], model="openai/gpt-4o", params=PRICED)
    assert table(project.run("--rag-dry-run"))["llm", "answer"][4].startswith("~")


def test_a_dry_run_counts_one_call_per_retrieved_document_for_erag(project: Project) -> None:
    metrics = 'metrics=["accuracy", "erag:P@3"]'
    questions = [case("q1", "Where is Orsay?"), case("q2", "Where is the Louvre?")]
    asks(project, "http://127.0.0.1:9/v1", questions, "rag_top_k = 3", arguments=metrics, params=PRICED)
    project.file("own.py", 'def answer(query):\n    raise RuntimeError("asked")\n')
    run = project.run("--rag-dry-run", "--rag-system", "llm", "--rag-system", "own:answer")
    told = table(run)
    assert told["llm", "each document"][:4] == ["openai/m", "2", "~6", "0"]
    assert told["llm", "each document"][5:] == ["60", "~0.6000"]
    assert told["own:answer", "each document"] == ["–", "2", "?", "0", "?", "?", "?"]
    assert told["all", ""][:2] == ["4", "~8+?"]


def test_an_unknown_price_is_unknown(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), params={"max_tokens": 5})
    told = table(project.run("--rag-dry-run"))
    assert told["llm", "answer"][5:] == ["5", "?"]
    assert told["all", ""][-1] == "?"


def test_a_dry_run_reports_unknown_calls_of_user_code(project: Project) -> None:
    metrics = 'metrics=["accuracy", "brief", "wise"]'
    asks(
        project, "http://127.0.0.1:9/v1", rows("a", "b"), "rag_judge_model = openai/j", arguments=metrics, params=PRICED
    )
    project.file("conftest.py", ASKED_ON)
    run = project.run("--rag-dry-run", "--rag-system", "registered", "--rag-system", "llm")
    told = table(run)
    assert told["registered", "answer"][:4] == ["–", "2", "?", "0"]
    assert told["llm", "answer"][:4] == ["openai/m", "2", "2", "0"]
    assert told["llm", "wise"][:4] == ["openai/j", "2", "?", "0"]
    assert ("llm", "brief") not in told  # it needs no model

    project.file("conftest.py", STANDS_IN)
    asks(project, "http://127.0.0.1:9/v1", rows("a", "b"), params=PRICED)
    run = project.run("--rag-dry-run")
    assert (run.status, table(run)["llm", "answer"][:4]) == (0, ["rag_llm", "2", "?", "0"])


def test_recorded_answers_ask_nothing(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), params=PRICED)
    project.file("answers.jsonl", '{"id": "a", "answer": "Paris"}')
    run = project.run("--rag-dry-run", "--rag-answers", "answers.jsonl")
    assert table(run)["recorded answers", "answer"][:3] == ["–", "1", "0"]


def test_without_a_model_judged_metrics_ask_nothing(project: Project) -> None:
    metrics = 'metrics=["rejection_rate_judged", "closed_book_accuracy"]'
    asks(project, "http://127.0.0.1:9/v1", rows("a"), model="", arguments=metrics)
    told = table(project.run("--rag-dry-run"))
    assert told == {("extractive", "answer"): ["–", "1", "0", "0", "0.0000"], ("all", ""): ["1", *"0000", "0.0000"]}


def test_a_dry_run_fails_on_a_collection_error(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), model="")
    project.file("test_broken.py", "1 / 0")
    run = project.run("--rag-dry-run")
    assert run.status == pytest.ExitCode.INTERRUPTED
    run.said("ERROR test_broken.py - ZeroDivisionError: division by zero")
    assert "dry run" not in run.text


@pytest.mark.parametrize(
    ("args", "status"), [(["test_plain.py"], 0), (["-k", "nothing"], 5), (["test_plain.py", "-n2"], 0)]
)
def test_without_a_case_it_says_so_and_runs_nothing(project: Project, args: list[str], status: int) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), model="")
    project.file("test_plain.py", "def test_plain(): raise RuntimeError('run')")
    run = project.run("--rag-dry-run", *args)
    assert run.status == status, run.text
    run.said("no RAG case would run")
    assert "passed" not in run.text
    assert "failed" not in run.text


def test_without_litellm_calls_are_counted_and_their_price_is_unknown(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), model="openai/gpt-4o-mini")
    project.file("conftest.py", BLOCKED)
    run = project.run("--rag-dry-run", forked=True)
    assert run.status == 0, run.text
    run.said("*openai/gpt-4o-mini * ~256 *[?]")


def test_recordings_and_prompts_that_cannot_be_read_are_one_sentence(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), "rag_record_mode = none", params=PRICED)
    project.file("cassettes/model-openai--m.jsonl", "no recording")
    run = project.run("--rag-dry-run")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    (sentence,) = run.result.stderr.str().strip().splitlines()
    assert "cassettes/model-openai--m.jsonl:1: this line is no recording; take it out" in sentence
    assert project.run("--rag-dry-run", "-o", "rag_prompts=en: none.toml").status == pytest.ExitCode.USAGE_ERROR
