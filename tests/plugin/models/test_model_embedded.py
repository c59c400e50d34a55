"""The model ``embedded`` runs agents without a key; other uses are refused."""

from __future__ import annotations

import time

import pytest
from support.projects.agent_project import agents
from support.projects.rag_project import Mode, Project


def test_a_first_run_of_an_agent_needs_no_key(project: Project) -> None:
    """The project has two data files, a file of cases and pytest.ini."""
    agents(project)
    start = time.perf_counter()
    run = project.run("-v", "--rag-system", "react", forked=True)
    assert time.perf_counter() - start < 10
    assert run.status == 0, run.text
    assert "retrievers" not in run.text
    run.said(
        "5 cases: 5 scored, 0 errors * system react * model embedded",
        "model calls: * tokens unknown * cost $0",
        "diagnosis - % of scored cases*",
        "react  *5     80    80     0     0     0    20     0     0     0",
    )
    values = {name: outcome["scores"]["has_answer"]["value"] for name, outcome in run.outcomes.items()}
    assert values == {"inhabitants": 1.0, "lighthouse": 1.0, "director": 1.0, "mayor": 1.0, "harbour": 0.0}


def test_its_calls_cost_nothing_and_its_name_is_a_facet(project: Project, mode: Mode) -> None:
    run = agents(project).run("--rag-system", "react", "--rag-gate", "has_answer[model=embedded] >= 0.8", *mode)
    assert run.status == 0, run.text
    for outcome in run.results["outcomes"]:
        usage = outcome["answer"]["usage"]
        assert (usage["prompt_tokens"], usage["completion_tokens"], usage["cost_usd"]) == (None, None, 0.0)
        facets = outcome["facets"]
        assert (facets["system"], facets["workflow"], facets["model"]) == ("react", "react", "embedded")


def test_it_is_never_recorded(project: Project) -> None:
    agents(project, "rag_model = embedded")
    first = project.run("--rag-system", "react", "--rag-record-mode", "once")
    assert (first.status, (project.path / "cassettes").exists()) == (0, False), first.text
    assert project.run("--rag-system", "react", "--rag-record-mode", "none").status == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--rag-model", "embedded"],
            "rag_model is embedded, which plays only the built-in agents and chains, not",
        ),
        (["--rag-system", "closed_book@embedded"], "closed_book@embedded: the model embedded plays only the built-in"),
        (
            ["--rag-system", "desk:answer", "--rag-model", "embedded"],
            "agents and chains, not desk:answer; name",
        ),
        (["--rag-system", "react", "--rag-judge-model", "embedded"], "rag_judge_model or rag_judges names embedded"),
        (["--rag-system", "react", "-o", "rag_embedder_model=embedded"], "rag_embedder_model names embedded, which"),
    ],
)
def test_any_other_use_is_refused_before_anything_runs(project: Project, args: list[str], message: str) -> None:
    agents(project).file("desk.py", "def answer(query):\n    raise AssertionError\n")
    run = project.run(*args, json_path=None)
    text = f"{run.result.stdout.str()}{run.result.stderr.str()}"
    assert run.status == 4, text
    assert message in " ".join(text.split())
    assert "Traceback" not in text


def test_systems_without_a_model_may_run_beside_it(project: Project) -> None:
    agents(project, "rag_model = embedded")
    run = project.run("-v", "--rag-system", "react", "--rag-system", "extractive")
    assert run.status == 0, run.text
    run.said("10 cases: 10 scored, 0 errors * system extractive, react * model embedded")


def test_it_answers_no_closed_book_question(project: Project) -> None:
    agents(project)
    run = project.run("--rag-system", "react", "--rag-matrix", "closed_book_accuracy")
    assert run.status == 0, run.text
    scores = {outcome["scores"]["closed_book_accuracy"].get("reason") for outcome in run.results["outcomes"]}
    assert scores == {"model_unavailable"}


def test_a_model_fixture_overrides_it(project: Project) -> None:
    agents(project, "rag_model = embedded")
    project.file(
        "conftest.py",
        """
        import pytest
        from pytest_rageval.testing import ScriptedLLM

        @pytest.fixture(scope="session")
        def rag_llm():
            return ScriptedLLM("Finish[1884]")
        """,
    )
    run = project.run("--rag-system", "react")
    assert run.status == 0, run.text
    assert {outcome["answer"]["text"] for outcome in run.results["outcomes"]} == {"1884"}
    assert "model embedded" not in run.text
