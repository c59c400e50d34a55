"""Compare systems as in R-Eval: recorded answers and the command reproduce its printed tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.projects.rag_project import Project

from pytest_rageval.analysis.systems.ranks import ordinal

LEVELS = {"1": "knowledge_seeking", "2": "knowledge_understanding", "3": "knowledge_application"}
SHORT = {"KS": LEVELS["1"], "KU": LEVELS["2"], "KA": LEVELS["3"]}
AMINER = ("1-3", "2-4", "3-5")

CONFTEST = """
    from pytest_rageval import Metric, Score

    def pytest_rageval_register(registry):
        compute = lambda sample: Score(float(sample.answer.text))
        registry.metrics.register("printed", Metric(name="printed", compute=compute))
"""


@pytest.fixture(scope="module")
def table(rageval_data: Path) -> list[dict[str, Any]]:
    path = rageval_data.parent / "reference" / "reval_tables.json"
    if not path.is_file():
        pytest.skip(f"R-Eval's printed tables are not at {path}")
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


@pytest.fixture
def matching(table: list[dict[str, Any]], project: Project) -> Any:
    """Run each task as one case whose score is the printed one, and return the command's JSON."""
    tasks = list(table[0]["scores"])
    project.data([
        {"id": task, "question": "?", "answers": ["-"], "level": LEVELS[task[0]],
         "domain": "aminer" if task in AMINER else "wiki"} for task in tasks
    ])  # fmt: skip
    answers = [
        {"id": task, "answer": str(row["scores"][task] / 100), "workflow": row["workflow"], "model": row["llm"]}
        for row in table
        for task in tasks
    ]
    project.data(answers, "answers.jsonl")
    project.file("conftest.py", CONFTEST)
    project.file("a.rag.toml", '[[testbed]]\nname = "reval"\ndataset = "jsonl:cases.jsonl"\nmetrics = ["printed"]\n')
    run = project.run("--rag-answers=answers.jsonl")
    assert run.status == 0, run.text
    ran = project.command("analyze", "matching", "--json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def overall(matching: Any, workflow: str, domain: str = "") -> list[tuple[float, str]]:
    """Return (percent, model) of a workflow's systems, the best first."""
    ranking = []
    for each in matching["systems"]:
        if each["workflow"] != workflow:
            continue
        values = [
            axis["systems"][each["system"]] for axis in matching["axes"] if domain in (axis["where"]["domain"], "")
        ]
        mean = sum(cell["mean"] * cell["n"] for cell in values) / sum(cell["n"] for cell in values)
        ranking.append((100 * mean, each["model"]))
    return sorted(ranking, reverse=True)


def test_averages_and_ranks_equal_the_printed_ones(matching: Any, table: list[dict[str, Any]]) -> None:
    ranks = matching["ranks"]
    means = {each["system"]: each["mean"] for each in matching["systems"]}
    near, alike, levels = 0, 0, []
    for row in table:
        name, printed = f"{row['workflow']}@{row['llm']}", row["printed"]
        domains = {
            domain: [row["scores"][task] for task in row["scores"] if (task in AMINER) == (domain == "aminer")]
            for domain in ("wiki", "aminer")
        }
        averages = {"all": 100 * means[name], **{key: sum(each) / len(each) for key, each in domains.items()}}
        near += sum(abs(averages[key] - printed[key]) <= 0.1 + 1e-9 for key in averages)
        for key, scope in (("all", "all"), ("wiki", "domain=wiki"), ("aminer", "domain=aminer")):
            alike += ordinal(ranks[scope][name]) == printed[f"{key}_rank"].replace("21th", "21st")
        for domain in ("wiki", "aminer"):
            for short, level in SHORT.items():
                rank = ordinal(ranks[f"domain={domain}, level={level}"][name])
                levels.append(rank == printed[f"{domain}_{short}_rank"].replace("21th", "21st"))
    assert (near, alike, sum(levels), len(levels)) == (63, 63, 124, 126)  # two of them are a tie


def test_each_workflow_has_the_printed_best_model(matching: Any) -> None:
    for workflow, domain, model, mean in (
        ("ReAct", "", "gpt-4", 45.28), ("PAL", "", "gpt-3.5", 30.38), ("DFSDT", "", "gpt-4", 10.94),
        ("ReAct", "wiki", "gpt-4", 38.81), ("PAL", "wiki", "llama2-13b", 25.20), ("DFSDT", "wiki", "gpt-4", 9.92),
    ):  # fmt: skip
        best, _ = overall(matching, workflow, domain)[:2]
        assert best[1].startswith(model)
        assert best[0] == pytest.approx(mean, abs=0.006)
    function_calling = next(
        each["workflow"] for each in matching["systems"] if each["workflow"] not in ("ReAct", "PAL", "DFSDT")
    )
    leads = []
    for workflow in ("ReAct", "PAL", "DFSDT", function_calling):
        first, second = overall(matching, workflow)[:2]
        leads.append(first[0] - second[0])
    assert leads == pytest.approx([18.84, 1.12, 4.42, 0.38], abs=0.006)
    assert [round(mean, 2) for mean, _ in overall(matching, function_calling)[:1]] == [9.94]
    wiki = overall(matching, function_calling, "wiki")[0]
    assert (round(wiki[0], 2), wiki[1][:7]) == (8.77, "gpt-3.5")
    best_systems = {each["of"]: each["system"] for each in matching["best"]}
    assert best_systems["all"].startswith("ReAct@gpt-4")
    assert best_systems["model=gpt-4-1106"].startswith("ReAct")
    assert best_systems["model=gpt-3.5-turbo"].startswith("PAL")


def test_the_axes_equal_those_of_the_printed_radars(matching: Any) -> None:
    def axes(system: str) -> list[float]:
        values = {tuple(axis["where"].values()): axis["values"][system] for axis in matching["axes"]}
        return [round(100 * values[domain, level], 2) for domain in ("wiki", "aminer") for level in SHORT.values()]

    assert axes("ReAct@gpt-4-1106") == pytest.approx([24.45, 41.67, 43.85, 89.70, 46.70, 57.70], abs=0.011)
    assert axes("PAL@gpt-3.5-turbo") == pytest.approx([9.75, 40.23, 9.65, 80.10, 50.70, 54.90], abs=0.011)
    best = {each["of"]: (each["system"], each["mean"]) for each in matching["best"]}
    for axis in matching["axes"]:
        domain, level = axis["where"].values()
        name, mean = best[f"domain={domain}, level={level}"]
        if (domain, level) == ("aminer", LEVELS["2"]):
            assert (name, mean) == ("PAL@gpt-4-1106", pytest.approx(0.568))
        else:
            assert name == "ReAct@gpt-4-1106"


def test_the_best_score_of_each_task_and_the_fit_equal_the_printed_ones(matching: Any) -> None:
    assert 100 * matching["best_of_n"]["mean"] == pytest.approx(49.05, abs=0.006)
    assert 100 * matching["best_of_n"]["single"] == pytest.approx(45.28, abs=0.006)
    fit = matching["fit"]
    assert (fit["rows"], len(fit["cols"]), fit["n"]) == (["ReAct", "PAL"], 8, 12)
    assert 100 * fit["mean"] == pytest.approx(19.366, abs=0.0006)
    effects = [100 * each for each in fit["row_effects"].values()]
    assert effects == pytest.approx([-0.115, 0.115], abs=0.0006)
    react = {col[:10]: 100 * value for col, value in zip(fit["cols"], fit["cells"][0], strict=True)}
    expected = {"gpt-4-1106": 8.131, "llama2-13b": -5.431, "llama2-7b-": 7.115, "gpt-3.5-tu": -2.648}
    assert {name: react[name] for name in expected} == pytest.approx(expected, abs=0.0006)
