"""`rageval analyze matching` and `deployment`, and the best system in the summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from csv import DictReader
from io import StringIO
from typing import Any

import pytest
from support.codes import without_code
from support.projects.rag_project import Mode, Project, cases

N = 30
GOOD, FAIR, BAD = "1" * N, "1" * (N - 1) + "0", "0" * N

TOPICS = ("cars", "boats")


def rows(system: str, right: str, **more: Any) -> list[dict[str, Any]]:
    answers = ("Rome", "Paris")
    return [
        {"id": f"q{at}", "answer": answers[int(mark)], "system": system, **more} for at, mark in enumerate(right, 1)
    ]


@pytest.fixture
def three_systems(project: Project) -> Project:
    """Return a project with answers of three recorded systems: two are similar, one is worse."""
    data = cases(*["where"] * N)
    for at, each in enumerate(data):
        each["topic"] = TOPICS[at % 2]
    project.data(data)
    project.file("pytest.ini", "[pytest]\n")
    project.file("a.rag.toml", '[[testbed]]\nname = "desk"\ndataset = "jsonl:cases.jsonl"\nmetrics = ["accuracy"]\n')
    usage = {"latency_s": 2.0, "cost_usd": 0.01, "prompt_tokens": 100, "completion_tokens": 10}
    answers = [
        *rows("good", GOOD, workflow="react", model="large", usage=usage),
        *rows("fair", FAIR, workflow="react", model="small", usage={**usage, "cost_usd": 0.001}),
        *rows("bad", BAD, workflow="pal", model="large", usage={**usage, "latency_s": 3.0}),
    ]
    project.data(answers, "answers.jsonl")
    return project


def analyze(project: Project, *args: str) -> Any:
    process = project.command("analyze", *args, "--json")
    assert (process.returncode, process.stderr) == (0, ""), process.stderr
    return json.loads(process.stdout)


def refusal(project: Project, *args: str) -> str:
    process = project.command("analyze", *args)
    assert (process.returncode, process.stdout) == (2, "")
    return without_code(process.stderr.strip().removeprefix("rageval: "))


def test_the_summary_names_the_best_system_and_what_each_costs(three_systems: Project, mode: Mode) -> None:
    run = three_systems.run(*mode, "-v", "--rag-answers=answers.jsonl")
    run.said(
        "systems by accuracy - seconds, calls and cost are of one answer",
        "good* react *large *1st *1 *30 *",
        "accuracy by workflow x model - mean (n); – did not run",
        "react *1.00 (30) *0.97 (30)",
        "pal *0.00 (30) *–",
        "best system by accuracy - paired tests, Holm, alpha 0.05",
        "all *good * 1 *1 of 2",
        "all: not separable from good: fair (detectable 0.*)",
        "all: good is better than bad (p 3.7e-09)",
    )
    first, second, third = run.results["sections"]["systems"]
    assert [each["system"] for each in (first, second, third)] == ["good", "fair", "bad"]
    assert (first["p50_s"], first["cost_usd"], first["front"], third["front"]) == (2.0, 0.01, True, False)
    (best,) = run.results["sections"]["matching"]
    assert [each["other"] for each in best["best"]["others"] if each.get("separable")] == ["bad"]
    output = three_systems.command("show", "--full").stdout
    assert "all: good is better than bad (p 3.7e-09)" in output


def test_two_systems_have_a_table_and_a_line_and_one_has_none(three_systems: Project) -> None:
    three_systems.data([*rows("good", GOOD), *rows("bad", BAD)], "answers.jsonl")
    run = three_systems.run("-v", "--rag-answers=answers.jsonl")
    assert set(run.results["sections"]) == {"matching", "systems"}
    assert [(each["system"], each["rank"]) for each in run.results["sections"]["systems"]] == [("good", 1), ("bad", 2)]
    (against,) = run.results["sections"]["matching"][0]["best"]["others"]
    assert against["ci95"][0] < against["difference"] <= against["ci95"][1]
    run.said("all: good is better than bad (p 1.9e-09)")
    three_systems.data(rows("good", GOOD), "answers.jsonl")
    assert "sections" not in three_systems.run("--rag-answers=answers.jsonl").results


def test_the_grid_has_holes_and_common_columns(three_systems: Project) -> None:
    three_systems.run("--rag-answers=answers.jsonl")
    analysis = analyze(three_systems, "matching", "--common")
    assert (analysis["grid"]["rows"], analysis["grid"]["cols"]) == (["react", "pal"], ["large", "small"])
    assert [[cell and cell["system"] for cell in row] for row in analysis["grid"]["cells"]] == [
        ["good", "fair"], ["bad", None],
    ]  # fmt: skip
    assert analysis["grid"]["row_averages"] == [pytest.approx((1 + 29 / 30) / 2), None]
    assert analysis["grid"]["common"] == {"cols": ["large"], "row_averages": [1.0, 0.0]}
    best = {each["of"]: (each["system"], each["separable"]) for each in analysis["best"]}
    assert best == {
        "all": ("good", ["bad"]), "workflow=react": ("good", []), "model=large": ("good", ["bad"]),
    }  # fmt: skip
    text = three_systems.command("analyze", "matching", "--common", "--axes", "topic", "--normalize", "fair").stdout
    for line in ("common columns: large", "accuracy by topic, divided by fair's", "rank cars"):
        assert line in text


def test_the_grid_is_written_as_csv_and_latex(three_systems: Project) -> None:
    three_systems.run("--rag-answers=answers.jsonl")
    process = three_systems.command("analyze", "matching", "--axes=topic", "--csv=m.csv", "--latex=m.tex")
    assert process.stdout.splitlines() == ["written: m.csv", "written: m.tex"]
    table = list(DictReader(StringIO((three_systems.path / "m.csv").read_text(encoding="utf-8"))))
    assert [(each["table"], each["row"], each["col"], each["system"]) for each in table[:3]] == [
        ("grid", "react", "large", "good"), ("grid", "react", "small", "fair"), ("grid", "pal", "large", "bad"),
    ]  # fmt: skip
    assert {each["col"] for each in table if each["table"] == "axes"} == set(TOPICS)
    assert (three_systems.path / "m.tex").read_text(encoding="utf-8").count("\\begin{tabular}") == 2


def test_runs_of_different_systems_are_joined(three_systems: Project) -> None:
    names = []
    for system, right, more in (("one", GOOD, {}), ("two", BAD, {}), ("two", FAIR, {"model": "m2"})):
        three_systems.data(rows(system, right, **more), "answers.jsonl")
        run = three_systems.run("--rag-answers=answers.jsonl", fresh=False)
        names.append(run.results["run"]["id"])
    analysis = analyze(three_systems, "matching", *names)
    assert analysis["runs"] == names
    systems = {each["system"]: each["mean"] for each in analysis["systems"]}
    assert systems == {"one": 1.0, f"two ({names[1]})": 0.0, "two@m2": pytest.approx(29 / 30)}
    assert [each["n"] for each in analysis["pairs"]] == [N] * 3
    assert (
        refusal(three_systems, "matching", names[0], names[0])
        == f"the run {names[0]} is named twice; name each run once"
    )
    message = "the run has one system (one) with accuracy; run several, or name several runs"
    assert refusal(three_systems, "matching", names[0]) == message


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (("cases.jsonl", '"Paris"', '"Oslo"'), "the data of the case q1"),
        (("a.rag.toml", 'name = "desk"', 'name = "desk"\npassages = "retrieved"'), "passages of desk"),
        (("a.rag.toml", 'name = "desk"', 'name = "hall"'), "the testbed a.rag.toml::desk, which only one of them has"),
    ],
)
def test_runs_of_other_data_or_settings_are_refused(
    three_systems: Project, change: Sequence[str], difference: str
) -> None:
    names = []
    for is_changed in (False, True):
        if is_changed:
            path = three_systems.path / change[0]
            path.write_text(path.read_text(encoding="utf-8").replace(change[1], change[2]), encoding="utf-8")
        names.append(three_systems.run("--rag-answers=answers.jsonl", fresh=False).results["run"]["id"])
    text = refusal(three_systems, "matching", *names)
    assert f"differ in {difference}" in text
    assert text.endswith("name runs of the same data and settings")


def test_wrong_names_are_refused(three_systems: Project) -> None:
    three_systems.run("--rag-answers=answers.jsonl")
    for args, message in (
        (("--metric=acuracy",), "unknown metric 'acuracy'; did you mean 'accuracy'?"),
        (("--rows=workflw",), "unknown facet 'workflw'; did you mean 'workflow'?"),
        (("--axes=topics",), "unknown facet 'topics'; did you mean 'topic'?"),
        (("--axes=model",), "--axes: unknown facet 'model'; known: dataset, language, topic"),
        (("--normalize=goood",), "unknown system 'goood'; did you mean 'good'?"),
        (("--rows=topic", "--cols=topic"), "a cell would average systems; give --rows or --cols system, workflow or"),
        (("--csv=results.json",), "--csv names 'results.json'; put the runs first and name another file"),
    ):
        assert message in refusal(three_systems, "matching", *args)


def test_deployment_refuses_a_facet_of_systems(three_systems: Project) -> None:
    three_systems.run("--rag-answers=answers.jsonl")
    assert "--by: unknown facet 'workflow'; known: " in refusal(three_systems, "deployment", "--by=workflow")


def test_deployment_has_quality_time_and_cost_of_each_system(three_systems: Project) -> None:
    three_systems.run("--rag-answers=answers.jsonl")
    rows = {each["system"]: each for each in analyze(three_systems, "deployment")["systems"]}
    good, fair, bad = (rows[name] for name in ("good", "fair", "bad"))
    assert (good["quality"], good["p50_s"], good["cost_usd"], good["front"]) == (1.0, 2.0, pytest.approx(0.01), "yes")
    assert (fair["front"], fair["cost_per_right"]) == ("yes", pytest.approx(0.03 / 29))
    assert (bad["front"], bad["dominated_by"], bad["cost_per_right"]) == ("no", ["good", "fair"], None)
    text = three_systems.command("analyze", "deployment").stdout
    assert "dominated by good, fair" in text
    process = three_systems.command("analyze", "deployment", "--by=topic", "--csv")
    table = list(DictReader(StringIO(process.stdout)))
    assert table[0].keys() == {
        "topic", "system", "workflow", "model", "quality", "ci_low", "ci_high", "p50_s", "p95_s", "mean_s", "calls",
        "tool_calls", "prompt_tokens", "completion_tokens", "cost_usd", "cost_per_right", "front",
    }  # fmt: skip
    assert [each["topic"] for each in table] == ["boats"] * 3 + ["cars"] * 3 + ["macro"] * 3


def test_times_are_reported_with_the_concurrency_of_their_run(three_systems: Project) -> None:
    three_systems.run("--rag-answers=answers.jsonl", "--rag-concurrency=4")
    text = " ".join(three_systems.command("analyze", "deployment").stdout.split())
    assert "good: rag_concurrency 4; its seconds include waiting at the provider" in text
