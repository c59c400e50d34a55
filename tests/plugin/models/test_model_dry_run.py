"""A dry run counts calls and their cost without asking a model or writing a file."""

from __future__ import annotations

import pytest
from support.projects.model_projects import BLOCKED, KEY, asks, loaded, numbered, rows, table  # noqa: F401
from support.projects.rag_project import Mode, Project, case
from support.servers.openai_server import OpenAIServer

DIME = {"input_cost_per_token": 0, "output_cost_per_token": 0.01, "max_tokens": 10}
"""Parameters of calls that cost at most ten cents each."""

OVERRIDES_MODEL = """
    import pytest
    from pytest_rageval.testing import ScriptedLLM

    @pytest.fixture(scope="session")
    def rag_llm():
        raise RuntimeError("a dry run must not build it")
"""

REGISTERS = """
    from pytest_rageval import PromptedJudge

    def pytest_rageval_register(registry):
        registry.judges.register("brief", lambda sample: len(sample.answer.text) < 100)
        registry.judges.register("wise", lambda sample, model: 1.0)
        registry.systems.register("registered", lambda parts: lambda query: "Paris")
"""


def test_a_dry_run_counts_calls_and_asks_nothing(project: Project, openai_server: OpenAIServer, mode: Mode) -> None:
    judge = ("rag_judge_model = openai/gpt-4o", "rag_judge_params =", f"    api_base = {openai_server.base_url}",
             f"    api_key = {KEY}", "rag_record_mode = once")  # fmt: skip
    metrics = 'metrics=["accuracy", "rejection_rate_judged", "closed_book_accuracy"]'
    asks(project, openai_server.base_url, numbered(4), *judge, arguments=metrics, params=DIME, model="openai/gpt-4o")
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
    counts = table(run)
    assert counts["llm", "answer"][:3] + counts["llm", "answer"][4:] == [
        "openai/gpt-4o",
        "8",
        "8",
        "1,528",
        "80",
        "0.8000",
    ]
    assert counts["closed_book", "answer"] == counts["llm", "closed book"]
    judge_row = counts["llm", "rejection_rate_judged"]
    assert judge_row[:4] == ["openai/gpt-4o", "8", "8", "0"]
    assert [cell[0] for cell in judge_row[4:]] == ["~"] * 3  # estimates, because there is no answer and no max_tokens
    assert counts["extractive", "answer"] == ["–", "8", "0", "0", "0.0000"]
    assert counts["own:answer", "answer"] == ["–", "8", "?", "0", "?", "?", "?"]
    assert counts["all", ""][:2] == ["32", "80+?"]


def test_recorded_calls_are_counted_and_cost_nothing(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, numbered(4), "rag_record_mode = new_episodes", params=DIME)
    assert project.run().status == 0
    project.data(numbered(6))
    run = project.run("--rag-dry-run")
    assert len(openai_server.requests) == 4
    model, cases, calls, recorded, prompt, reply, dollars = table(run)["llm", "answer"]
    assert (model, cases, calls, recorded, reply, dollars) == ("openai/m", "6", "6", "4", "20", "~0.2000")
    assert prompt.startswith("~")  # the tokenizer of openai/m is unknown
    assert table(project.run("--rag-dry-run", "--rag-repeat", "2"))["llm", "answer"][1:4] == ["12", "12", "4"]
    assert table(project.run("--rag-dry-run", "--rag-limit", "4"))["llm", "answer"][1:] == ["4", "4", "4", "0.0000"]
    assert table(project.run("--rag-dry-run", "--rag-record-mode", "all"))["llm", "answer"][3] == "0"


@pytest.mark.parametrize("record_mode", ["none", "once"])
def test_a_replaying_record_mode_is_not_an_error(
    project: Project, openai_server: OpenAIServer, record_mode: str
) -> None:
    asks(project, openai_server.base_url, rows("a"), params=DIME)
    assert project.run("--rag-record-mode", "once").status == 0
    project.data(rows("a", "b"))
    run = project.run("--rag-dry-run", "--rag-record-mode", record_mode)
    assert (run.status, table(run)["llm", "answer"][1:4]) == (0, ["2", "2", "1"])


def test_counted_tokens_equal_the_tokens_of_the_requests(project: Project, openai_server: OpenAIServer) -> None:
    from pytest_rageval.llm.backends.prices import count_tokens

    asks(project, openai_server.base_url, numbered(3), model="openai/gpt-4o-mini", params={"max_tokens": 5})
    counts = table(project.run("--rag-dry-run"))["llm", "answer"]
    assert project.run().status == 0
    token_counts = [count_tokens("openai/gpt-4o-mini", request.body["messages"]) for request in openai_server.requests]
    assert counts[4:6] == [f"{sum(tokens for tokens, _ in token_counts):,}", "15"]
    assert counts[6] == f"{sum(tokens for tokens, _ in token_counts) * 0.15e-6 + 15 * 0.6e-6:.4f}"


def test_tokens_are_an_estimate_if_passages_are_retrieved(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", [case("q1", "Where is Orsay?")], model="openai/gpt-4o", params=DIME)
    assert table(project.run("--rag-dry-run"))["llm", "answer"][4].startswith("~")


def test_a_dry_run_counts_one_call_per_retrieved_document_for_erag(project: Project) -> None:
    metrics = 'metrics=["accuracy", "erag:P@3"]'
    questions = [case("q1", "Where is Orsay?"), case("q2", "Where is the Louvre?")]
    asks(project, "http://127.0.0.1:9/v1", questions, "rag_top_k = 3", arguments=metrics, params=DIME)
    project.file("own.py", 'def answer(query):\n    raise RuntimeError("asked")\n')
    run = project.run("--rag-dry-run", "--rag-system", "llm", "--rag-system", "own:answer")
    counts = table(run)
    assert counts["llm", "each document"][:4] == ["openai/m", "2", "~6", "0"]
    assert counts["llm", "each document"][5:] == ["60", "~0.6000"]
    assert counts["own:answer", "each document"] == ["–", "2", "?", "0", "?", "?", "?"]
    assert counts["all", ""][:2] == ["4", "~8+?"]


def test_an_unknown_price_is_printed_as_unknown(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), params={"max_tokens": 5})
    counts = table(project.run("--rag-dry-run"))
    assert counts["llm", "answer"][5:] == ["5", "?"]
    assert counts["all", ""][-1] == "?"


def test_a_dry_run_reports_unknown_calls_of_user_code(project: Project) -> None:
    metrics = 'metrics=["accuracy", "brief", "wise"]'
    asks(project, "http://127.0.0.1:9/v1", rows("a", "b"), "rag_judge_model = openai/j", arguments=metrics, params=DIME)
    project.file("conftest.py", REGISTERS)
    run = project.run("--rag-dry-run", "--rag-system", "registered", "--rag-system", "llm")
    counts = table(run)
    assert counts["registered", "answer"][:4] == ["–", "2", "?", "0"]
    assert counts["llm", "answer"][:4] == ["openai/m", "2", "2", "0"]
    assert counts["llm", "wise"][:4] == ["openai/j", "2", "?", "0"]
    assert ("llm", "brief") not in counts  # it asks no model

    project.file("conftest.py", OVERRIDES_MODEL)
    asks(project, "http://127.0.0.1:9/v1", rows("a", "b"), params=DIME)
    run = project.run("--rag-dry-run")
    assert (run.status, table(run)["llm", "answer"][:4]) == (0, ["rag_llm", "2", "?", "0"])


def test_recorded_answers_ask_nothing(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), params=DIME)
    project.file("answers.jsonl", '{"id": "a", "answer": "Paris"}')
    run = project.run("--rag-dry-run", "--rag-answers", "answers.jsonl")
    assert table(run)["recorded answers", "answer"][:3] == ["–", "1", "0"]


def test_without_a_model_judged_metrics_ask_nothing(project: Project) -> None:
    metrics = 'metrics=["rejection_rate_judged", "closed_book_accuracy"]'
    asks(project, "http://127.0.0.1:9/v1", rows("a"), model="", arguments=metrics)
    counts = table(project.run("--rag-dry-run"))
    assert counts == {("extractive", "answer"): ["–", "1", "0", "0", "0.0000"], ("all", ""): ["1", *"0000", "0.0000"]}


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
def test_a_dry_run_without_a_case_reports_that_and_runs_nothing(project: Project, args: list[str], status: int) -> None:
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


def test_invalid_recordings_and_prompts_are_refused_with_one_sentence(project: Project) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), "rag_record_mode = none", params=DIME)
    project.file("cassettes/model-openai--m.jsonl", "no recording")
    run = project.run("--rag-dry-run")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    (sentence,) = run.result.stderr.str().strip().splitlines()
    assert "cassettes/model-openai--m.jsonl:1: this line is no recording; take it out" in sentence
    assert project.run("--rag-dry-run", "-o", "rag_prompts=en: none.toml").status == pytest.ExitCode.USAGE_ERROR
