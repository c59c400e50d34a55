"""Budget, dry run and cost gates report calls of a user's system that they do not see."""

from __future__ import annotations

import pytest
from support.projects.model_projects import asks, loaded, numbered, refused, table  # noqa: F401
from support.projects.rag_project import Project
from support.servers.openai_server import OpenAIServer

NOWHERE = "http://127.0.0.1:9/v1"
DIME = {"input_cost_per_token": 0, "output_cost_per_token": 0.01, "max_tokens": 10}
"""Parameters of a call that may cost ten cents."""

SYSTEMS = """
    from pytest_rageval import Answer, Usage, recorded

    def silent(query):
        return "Paris"

    def reporting(query):
        return Answer("Paris", usage=Usage(10, 2, 0.1))

    async def awaited(query):
        return Answer("Paris", usage=Usage(10, 2, 0.1))

    def partly(query):
        return reporting(query) if query.question < "Where is q02" else "Paris"

    def tokens(query):
        return Answer("Paris", usage=Usage(10, 2))

    @recorded
    def replayed(query):
        return "Paris"
"""
COST = 'metrics=["accuracy"], gates=["cost_usd <= 1"]'
HOW_TO_REPORT = "return an Answer with its usage (tokens and cost_usd), or ask the model of the fixture rag_llm"
FIXTURE = """
    import pytest

    @pytest.fixture(scope="session")
    def {name}({needs}):
        {body}
"""


def fixture(name: str, body: str, needs: str = "") -> str:
    return FIXTURE.replace("{name}", name).replace("{needs}", needs).replace("{body}", body)


GENERATOR = fixture("rag_generator", 'return lambda query: "Paris"')
ASKING = """async def answer(query):
            return (await rag_llm.complete([{"role": "user", "content": query.question}])).text
        return answer"""
RETRIEVER = fixture("rag_retriever", 'return lambda question: ["It is in Paris.", "It is in Rome."]')


@pytest.fixture
def systems_project(project: Project) -> Project:
    """Make a project with the user's systems and a gate on cost."""
    asks(project, NOWHERE, numbered(4), arguments=COST, params=DIME)
    project.file("own.py", SYSTEMS)
    return project


def test_a_cost_gate_fails_with_the_reason_if_no_answer_reports_its_cost(systems_project: Project) -> None:
    run = systems_project.run("--rag-system", "own:silent")
    assert run.status == 1
    gate = run.gates["cost_usd <= 1"]
    assert (gate["status"], gate["value"], gate["n"]) == ("failed", None, 0)
    assert gate["reason"] == "cost_usd is unknown, because 4 of 4 answers report no cost"
    counts = "cost_usd <= 1 counts only what answers of own:silent report as usage"
    start = f"warning: your system's calls are not seen: {counts}"
    assert run.text.count(f"{start}; {HOW_TO_REPORT}") == 1
    assert run.text.index(start) < run.text.index("FAILURES")
    end = f"your system's calls are not seen: 4 of 4 answers of own:silent report no cost; {HOW_TO_REPORT}"
    assert run.prose.count(f"warning: {end}") == 1
    assert run.results["plan"]["notes"] == [end]


def test_answers_without_a_cost_are_counted(systems_project: Project) -> None:
    run = systems_project.run("--rag-system", "own:partly", "--rag-gate", "tokens <= 100")
    assert run.gates["cost_usd <= 1"]["reason"] == "cost_usd is unknown, because 2 of 4 answers report no cost"
    assert run.gates["tokens <= 100"]["reason"] == "tokens is unknown, because 2 of 4 answers report no tokens"
    assert "2 of 4 answers of own:partly report no cost and 2 of 4 report no tokens; return" in run.prose


def test_usage_that_answers_report_is_counted(systems_project: Project) -> None:
    run = systems_project.run("--rag-system", "own:reporting", "--rag-gate", "tokens <= 100")
    assert (run.status, run.gates["cost_usd <= 1"]["value"]) == (0, pytest.approx(0.4))
    assert run.results["plan"]["notes"] == []
    run = systems_project.run("--rag-system", "own:tokens", "--rag-gate", "tokens <= 100")
    assert [gate["status"] for gate in run.results["gates"]] == ["failed", "passed"]
    assert "4 of 4 answers of own:tokens report no cost; return" in run.prose


def test_without_a_budget_no_line_about_unseen_calls_is_printed(systems_project: Project) -> None:
    asks(systems_project, NOWHERE, numbered(4), params=DIME)
    run = systems_project.run("--rag-system", "own:silent")
    assert run.status == 0
    assert "not seen" not in run.text


def test_a_gate_on_another_system_prints_no_line_about_unseen_calls(systems_project: Project) -> None:
    asks(systems_project, NOWHERE, numbered(4), params=DIME)
    both = ("--rag-system", "own:silent", "--rag-system", "extractive")
    run = systems_project.run(*both, "--rag-gate", "cost_usd[system=extractive] <= 1")
    assert run.status == 0
    assert "not seen" not in run.text


@pytest.mark.parametrize(
    ("conftest", "args", "system"),
    [
        ("", ("--rag-system", "own:silent"), "own:silent"),
        ("", ("--rag-system", "own:replayed"), "own:replayed"),
        (fixture("rag_system", 'return lambda query: "Paris"'), (), "the fixture rag_system"),
        (GENERATOR, (), "the fixture rag_generator"),
        ("def pytest_rageval_register(registry):\n    registry.systems.register('mine', lambda parts: print)\n",
         ("--rag-system", "mine"), "mine"),
    ],
    ids=["named", "recorded", "rag_system", "rag_generator", "registered"],
)  # fmt: skip
def test_a_budget_that_cannot_observe_the_calls_is_refused(
    systems_project: Project, conftest: str, args: tuple[str, ...], system: str
) -> None:
    systems_project.file("conftest.py", conftest)
    sentence = f"--rag-budget-usd: your system's calls are not seen: {system} may ask models directly; name the hosts"
    how = "that it asks in rag_record_http, ask the model of the fixture rag_llm, or give --rag-budget-partial to "
    how += "bound only what is seen"
    assert refused(systems_project, "--rag-budget-usd", "1", *args) == f"{sentence} {how}"


def test_a_partial_budget_reports_the_calls_that_it_did_not_bound(systems_project: Project) -> None:
    run = systems_project.run("--rag-system", "own:silent", "--rag-budget-usd", "1", "--rag-budget-partial")
    assert sorted(run.statuses.values()) == ["scored"] * 4
    assert "are not seen: the budget, cost_usd <= 1 count only what answers of own:silent report" in run.prose
    assert "4 of 4 answers of own:silent report no cost, so the budget did not bound them; return" in run.prose


@pytest.mark.parametrize("system", ["reporting", "awaited"])
def test_a_partial_budget_counts_what_answers_report(systems_project: Project, system: str) -> None:
    args = ("--rag-budget-usd", "0.2", "--rag-budget-partial", "--rag-concurrency", "1")
    run = systems_project.run("--rag-system", f"own:{system}", *args)
    assert sorted(run.statuses.values()) == ["scored", "scored", "skipped", "skipped"]
    assert run.results["usage"]["spent_usd"] == pytest.approx(0.2)
    (error,) = {outcome["error"] for outcome in run.results["outcomes"] if outcome["status"] == "skipped"}
    spent = "the budget of $0.2 is spent: calls and answers so far cost $0.2"
    assert error == f"{spent}; raise --rag-budget-usd, and go on with --rag-resume"
    assert "the budget bounded only what is seen: it counted what answers of" in run.prose


def test_a_partial_budget_still_bounds_the_model(systems_project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "It is in Paris as all of us do know"
    asks(systems_project, openai_server.base_url, numbered(4), params=DIME)
    args = ("--rag-budget-usd", "0.2", "--rag-budget-partial")
    run = systems_project.run("--rag-system", "own:silent", "--rag-system", "llm", *args)
    assert len(openai_server.requests) == 2
    assert sorted(run.statuses.values()).count("skipped") == 2


def test_a_budget_bounds_calls_of_rag_llm(systems_project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "It is in Paris as all of us do know"
    asks(systems_project, openai_server.base_url, numbered(4), arguments=COST, params=DIME)
    for name in ("rag_system", "rag_generator"):
        systems_project.file("conftest.py", fixture(name, ASKING, "rag_llm"))
        openai_server.requests.clear()
        run = systems_project.run("--rag-budget-usd", "0.3", "--rag-concurrency", "1")
        assert len(openai_server.requests) == 3, run.text
        assert "not seen" not in run.text


def test_a_system_that_only_embeds_has_an_unknown_answer_cost(systems_project: Project) -> None:
    body = """async def answer(query):
            await rag_embedder.embed([query.question])
            return "Paris"
        return answer"""
    systems_project.file(
        "conftest.py",
        fixture("rag_system", body, "rag_embedder")
        + """
    from pytest_rageval import Embeddings, Usage

    class Model:
        name = "mine"

        async def embed(self, texts):
            return Embeddings(tuple((1.0,) for _ in texts), Usage(5, 0, 0.01))

    @pytest.fixture(scope="session")
    def rag_embedder():
        return Model()
    """,
    )
    run = systems_project.run()
    assert run.results["usage"]["spent_usd"] == pytest.approx(0.04)
    assert run.gates["cost_usd <= 1"]["reason"] == "cost_usd is unknown, because 4 of 4 answers report no cost"


@pytest.mark.parametrize("args", [("--rag-system", "extractive"), ("--rag-answers", "answers.jsonl"),
                                  ("--rag-system", "own:replayed", "--rag-record-mode", "none")])  # fmt: skip
def test_systems_without_costs_need_no_partial_budget(systems_project: Project, args: tuple[str, ...]) -> None:
    asks(systems_project, NOWHERE, numbered(1), params=DIME)
    systems_project.file("answers.jsonl", '{"id": "q00", "answer": "Paris"}')
    assert systems_project.run("--rag-system", "own:replayed", "--rag-record-mode", "once").status == 0
    run = systems_project.run("--rag-budget-usd", "1", *args)
    assert (run.status, run.statuses) == (0, {"q00": "scored"}), run.text
    assert "not seen" not in run.text


@pytest.mark.parametrize("body", ['raise RuntimeError("down")', "return None"])
def test_a_system_that_always_fails_has_an_unknown_cost(systems_project: Project, body: str) -> None:
    systems_project.file("own.py", f"def silent(query):\n    {body}\n")
    run = systems_project.run("--rag-system", "own:silent")
    assert run.status == 1
    assert ", cost unknown" in run.prose
    assert run.results["usage"]["cost_usd"] is None


@pytest.mark.parametrize(
    "args", [("-o", "rag_model=openai/m"), ("-o", "rag_record_http=a.b"), ("--rag-record-mode", "once")]
)
def test_a_system_without_observed_calls_has_an_unknown_cost_with_any_setting(
    systems_project: Project, args: tuple[str, ...]
) -> None:
    run = systems_project.run("--rag-system", "own:silent", *args)
    assert ", cost unknown" in run.prose
    assert "$0" not in run.prose
    assert ", $0" in systems_project.run("--rag-system", "extractive", *args).prose


def test_a_partial_budget_without_a_budget_is_refused(systems_project: Project) -> None:
    assert refused(systems_project, "--rag-budget-partial") == (
        "--rag-budget-partial has no budget to bound; give --rag-budget-usd too"
    )


def test_a_dry_run_counts_the_calls_behind_a_users_retriever(systems_project: Project) -> None:
    systems_project.file("conftest.py", RETRIEVER)
    systems_project.data([{key: value for key, value in row.items() if key != "passages"} for row in numbered(60)])
    run = systems_project.run("--rag-dry-run")
    assert table(run)["rag_system", "answer"][:4] == ["openai/m", "60", "60", "0"]
    assert table(run)["all", ""][:2] == ["60", "60"]
    assert "not seen" not in run.text


def test_a_budget_bounds_a_users_retriever(systems_project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "It is in Paris as all of us do know"
    asks(systems_project, openai_server.base_url, numbered(4), params=DIME)
    systems_project.file("conftest.py", RETRIEVER)
    run = systems_project.run("--rag-budget-usd", "0.2")
    assert len(openai_server.requests) == 2
    assert "not seen" not in run.text


def test_a_retriever_that_asks_the_model_makes_the_number_of_calls_unknown(
    systems_project: Project, openai_server: OpenAIServer
) -> None:
    asks(systems_project, openai_server.base_url, numbered(4), arguments=COST, params=DIME)
    systems_project.file("conftest.py", fixture("rag_retriever", "return lambda question: [str(rag_llm)]", "rag_llm"))
    run = systems_project.run("--rag-dry-run")
    assert table(run)["rag_system", "answer"][:4] == ["–", "4", "?", "0"]
    assert systems_project.run("--rag-budget-usd", "1").status != pytest.ExitCode.USAGE_ERROR


def test_a_dry_run_names_the_systems_whose_calls_it_cannot_count(systems_project: Project) -> None:
    run = systems_project.run("--rag-dry-run", "--rag-system", "own:silent", "--rag-system", "llm")
    warning = "your system's calls are not seen: own:silent; a dry run counts those of the built-in systems"
    assert warning in run.prose
    assert "not seen" not in systems_project.run("--rag-dry-run", "--rag-system", "llm").text
