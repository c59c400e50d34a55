"""The facets ``workflow`` and ``model``: their sources and their uses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.model_projects import refused
from support.projects.rag_project import RIGHT, WRONG, Mode, Project, Run, cases

APP = """
    def say(query):
        return query.question.partition(" ")[2]

    def silent(query):
        return "-"
"""

SYSTEMS = """
    [pytest]
    rag_systems =
        mine: app:say; workflow=langgraph; model=gpt-4o
        other: app:silent; workflow=langgraph; model=gpt-4o-mini
        plain: app:say
"""

ANSWERS = (
    {"id": "q1", "answer": "Paris", "workflow": "react", "model": "m1"},
    {"id": "q2", "answer": "Rome", "workflow": "react", "model": "m1"},
    {"id": "q1", "answer": "Rome", "system": "named"},
    {"id": "q2", "answer": "Rome", "system": "named"},
)


@pytest.fixture
def app(project: Project) -> Project:
    project.says(cases(RIGHT, WRONG), conftest="")
    project.file("app.py", APP)
    project.file("pytest.ini", SYSTEMS)
    return project


def labels(run: Run) -> dict[str, tuple[Any, Any]]:
    """Return system -> workflow and model of its outcomes."""
    facets_by_system = {each["system"]: each["facets"] for each in run.results["outcomes"]}
    return {name: (facets.get("workflow"), facets.get("model")) for name, facets in facets_by_system.items()}


def test_named_systems_have_their_labels_and_the_built_in_ones_their_workflow(app: Project, mode: Mode) -> None:
    names = ("mine", "other", "plain", "app:say", "extractive")
    run = app.run(*mode, *(f"--rag-system={name}" for name in names), "--rag-rows=workflow", "--rag-cols=model")
    assert labels(run) == {
        "mine": ("langgraph", "gpt-4o"),
        "other": ("langgraph", "gpt-4o-mini"),
        "plain": ("plain", None),
        "app:say": ("app:say", None),
        "extractive": ("rag", None),
    }
    (matrix,) = run.results["matrices"] if "matrices" in run.results else [run.results["matrix"]]
    assert matrix["rows"] == ["app:say", "langgraph", "plain", "rag"]
    assert matrix["cols"] == ["gpt-4o", "gpt-4o-mini", "-"]
    assert [cell and cell["mean"] for cell in matrix["cells"][1]] == [0.5, 0.0, None]
    run.said("accuracy by workflow x model")


@pytest.mark.parametrize(("bound", "status"), [(0.3, "failed"), (0.0, "passed")])
def test_a_gate_holds_in_every_cell_of_workflow_and_model(app: Project, mode: Mode, bound: float, status: str) -> None:
    expr = f"accuracy[workflow=*, model=*] >= {bound}"
    run = app.run(*mode, "--rag-system=mine", "--rag-system=other", f"--rag-gate={expr}", "--junitxml=j.xml")
    (gate,) = run.results["gates"]
    assert (gate["expr"], gate["status"]) == (expr, status)
    assert run.status == int(status == "failed")
    xml = (app.path / "j.xml").read_text(encoding="utf-8")
    assert ("<failure" in xml) == (status == "failed")
    assert "rag.facet.workflow=langgraph" in xml


def test_cases_are_selected_by_the_workflow(app: Project) -> None:
    run = app.run("--rag-system=mine", "--rag-system=plain", "-m", "rag(workflow='langgraph')")
    assert set(labels(run)) == {"mine"}


def test_recorded_rows_have_their_workflow_or_the_name_of_the_system(app: Project) -> None:
    app.data(list(ANSWERS), "answers.jsonl")
    run = app.run("--rag-answers=answers.jsonl")
    assert labels(run) == {"react@m1": ("react", "m1"), "named": ("named", None)}
    assert [each["scores"]["accuracy"]["value"] for each in run.results["outcomes"]] == [1.0, 0.0, 0.0, 0.0]
    assert "facets of no case" not in run.text


def test_a_router_has_the_model_of_each_answer(app: Project) -> None:
    rows = [{"id": f"q{at}", "answer": "Paris", "system": "router", "model": f"m{at}"} for at in (1, 2)]
    app.data(rows, "answers.jsonl")
    run = app.run("--rag-answers=answers.jsonl")
    assert [each["facets"]["model"] for each in run.results["outcomes"]] == ["m1", "m2"]


def test_two_models_of_one_case_need_two_systems(app: Project) -> None:
    rows = [{"id": "q1", "answer": "Paris", "system": "router", "model": model} for model in ("m1", "m2")]
    app.data(rows, "answers.jsonl")
    assert refused(app, "--rag-answers=answers.jsonl") == (
        "recorded answers of system 'router' to case 'q1' name several workflows or models (model m1 and model m2); "
        "give each its own system"
    )


def test_a_facet_of_the_data_has_priority(app: Project) -> None:
    app.data(cases(RIGHT, WRONG, model="Golf"))
    run = app.run("--rag-system=mine")
    assert labels(run) == {"mine": ("langgraph", "Golf")}


@pytest.mark.parametrize("name", ["llm", "extractive", "closed_book"])
def test_an_alias_cannot_be_the_name_of_a_system(app: Project, name: str) -> None:
    app.file("pytest.ini", f"[pytest]\nrag_systems = {name}: app:say\n")
    message = f"rag_systems has the alias '{name}', which is the name of a system; choose another alias"
    assert refused(app) == message


def test_an_unknown_alias_is_refused_with_a_suggestion(app: Project) -> None:
    assert refused(app, "--rag-system=mien").endswith("did you mean 'mine'?")


def test_a_baseline_of_an_older_version_is_compared(app: Project) -> None:
    """Older baselines have neither facet, or a facet of the data; new baselines have neither."""
    args = ("--rag-system=mine", "--rag-baseline=base.json")
    assert app.run(*args, "--rag-update-baseline").status == 0
    path = app.path / "base.json"
    assert "langgraph" not in path.read_text(encoding="utf-8")
    plain = json.loads(path.read_text(encoding="utf-8"))
    plain["cases"][0]["facets"]["model"] = "gpt-3.5"
    path.write_text(json.dumps(plain), encoding="utf-8")
    for gate in ("accuracy >= baseline", "accuracy[workflow=langgraph, model=gpt-4o] >= baseline"):
        run = app.run(*args, "-v", f"--rag-gate={gate}")
        assert (run.status, run.gates[gate]["status"]) == (0, "passed"), run.text
        run.said("against base.json, * 2 cases compared", "no score changed")
    app.file("pytest.ini", SYSTEMS.replace("model=gpt-4o\n", "model=gpt-5\n"))  # another model is the same system
    app.run(*args, "-v").said("no score changed")


def test_a_case_that_only_the_baseline_has_belongs_to_the_workflow_of_its_system(app: Project) -> None:
    args = ("--rag-system=mine", "--rag-baseline=base.json")
    app.data(cases(*[RIGHT] * 6))
    assert app.run(*args, "--rag-update-baseline").status == 0
    app.data(cases(*[RIGHT] * 2))
    gate = "accuracy[workflow=langgraph] >= baseline"
    run = app.run(*args, f"--rag-gate={gate}")
    assert run.gates[gate]["status"] == "failed"
    run.said("*not comparable, 2 of 6 cases compared: 4 removed*")
