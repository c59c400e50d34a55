"""Cases that depend on each other: dialogues, configured clusters, and the gates over them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.projects.rag_project import RIGHT, WRONG, Mode, Project, Row, case

from pytest_rageval.cli import main

BASELINE = ("--rag-baseline", "rag-baseline.json")


def turns(dialogues: int, right: int) -> list[Row]:
    """Return dialogues of five turns, two per document; every turn of the first ``right`` dialogues is right."""
    return [
        case(f"d{d}-{turn}", RIGHT if d <= right else WRONG, dialogue=f"d{d}", round=turn, document=f"x{(d + 1) // 2}")
        for d in range(1, dialogues + 1)
        for turn in range(1, 6)
    ]


def test_a_gate_counts_a_hundred_turns_of_twenty_dialogues_as_twenty_units(project: Project, mode: Mode) -> None:
    project.says(turns(20, 11), 'gates=["accuracy >= 0.5"]')
    run = project.run("-v", *mode)
    assert run.status == 0
    run.said("*PASSED  accuracy >= 0.5    0.55  n 100 in 20 dialogues  [[]0.34, 0.75]")
    gate = run.gates["accuracy >= 0.5"]
    assert (gate["n"], gate["n_units"], gate["unit"]) == (100, 20, "dialogue")
    assert gate["ci95"] == pytest.approx([0.34, 0.74], abs=0.01)
    assert run.results["matrix"]["total"]["ci95"] == gate["ci95"]


def test_a_testbed_can_set_the_cluster_facet(project: Project) -> None:
    project.says(turns(20, 11), 'gates=["accuracy >= 0.5"], cluster="document"')
    run = project.run("-v")
    run.said("*PASSED  accuracy >= 0.5    0.55  n 100 in 10 documents  *")
    assert next(iter(run.results["testbeds"].values()))["cluster"] == "document"


def test_the_ini_and_a_suite_can_set_the_cluster_facet(project: Project) -> None:
    project.says([], test="")
    project.data([{key: value for key, value in row.items() if key != "dialogue"} for row in turns(20, 11)])
    suite = '[[testbed]]\nname = "{name}"\ndataset = "jsonl:cases.jsonl"\nmetrics = ["accuracy"]\n'
    gates = 'gates = ["accuracy >= 0.5"]\n'
    project.file("a.rag.toml", suite.format(name="a") + gates + 'cluster = "round"\n')
    project.file("b.rag.toml", suite.format(name="b") + gates)
    project.file("pytest.ini", "[pytest]\nrag_cluster = document\nrag_gates = accuracy >= 0.4\n")
    run = project.run()
    counts = {gate["scope"]: (gate["n"], gate["n_units"], gate["unit"]) for gate in run.results["gates"]}
    assert counts == {"a": (100, 5, "round"), "b": (100, 10, "document"), "session": (200, 1, "unit")}


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_cluster_that_no_case_has_is_a_usage_error(project: Project, workers: Mode) -> None:
    project.says(turns(2, 1), 'cluster="documnet"')
    run = project.run(*workers)
    assert run.status == 4
    problem = "is 'documnet', a facet that no case has; did you mean 'document'? [[]RAG101]"
    run.result.stderr.fnmatch_lines([f"ERROR: test_it.py:3: cluster {problem}"])
    project.says(turns(2, 1))
    project.file("pytest.ini", "[pytest]\naddopts = -q\nrag_cluster = documnet\n")
    run = project.run(*workers)
    assert run.status == 4
    run.result.stderr.fnmatch_lines([f"ERROR: pytest.ini:3: rag_cluster {problem}"])


def test_a_cluster_that_no_case_of_a_path_has_is_a_warning(project: Project) -> None:
    project.says(turns(2, 1))
    project.file("pytest.ini", "[pytest]\nrag_cluster = documnet\n")
    run = project.run("test_it.py")
    assert run.status == 0
    problem = "rag_cluster is 'documnet', a facet that no case has; did you mean 'document'? Units are cases here"
    assert problem in run.prose


def test_facets_from_the_session_are_not_clusters(project: Project) -> None:
    project.says(turns(2, 1), 'cluster="system"')
    run = project.run()
    assert run.status == 4
    assert "test_it.py:3: cluster is 'system', a facet that no case has; " in run.result.stderr.str()


def test_a_gate_with_too_few_dialogues_to_fail_is_reported_before_the_tests(project: Project, mode: Mode) -> None:
    project.says(turns(4, 4), 'gates=["accuracy >= baseline"]')
    project.run(*BASELINE, "--rag-update-baseline", *mode)
    project.says(turns(4, 0), 'gates=["accuracy >= baseline"]')
    run = project.run(*BASELINE, *mode)
    warning = (
        "warning: test_it: accuracy >= baseline can never fail: it has 20 cases in 4 dialogues, and at rag_alpha 0.05 "
        "at least 5 independent ones have to get worse"
    )
    lines = run.result.stdout.lines
    assert lines.count(warning) == 1
    first = "." if "-n2" in mode else "test_it.py"
    assert lines.index(warning) < next(at for at, line in enumerate(lines) if line.startswith((first, "m")))


BREAKS = """
    import pytest

    def say(query):
        name = query.question.split()[0]
        return "Rome" if name in {broken} else "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return say
"""


def test_a_dialogue_whose_turns_all_break_counts_once(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [case(f"d{d}-{turn}", f"d{d} where?", dialogue=f"d{d}", round=turn) for d in range(12) for turn in range(5)]
    project.says(rows, 'gates=["accuracy >= baseline"]')
    project.file("conftest.py", BREAKS.replace("{broken}", "()"))
    project.run(*BASELINE, "--rag-update-baseline")
    gates = {}
    for n in (4, 5):
        project.file("conftest.py", BREAKS.replace("{broken}", repr(tuple(f"d{d}" for d in range(n)))))
        run = project.run(*BASELINE)
        gates[n] = run.gates["accuracy >= baseline"]
    assert (gates[4]["verdict"], gates[4]["p_value"], gates[4]["n_pairs"]) == ("inconclusive", 1 / 16, 60)
    assert (gates[5]["verdict"], gates[5]["p_value"], gates[5]["n_units"]) == ("worse", 1 / 32, 12)
    assert run.status == 1
    run.said("*one-sided p 0.031 over 60 cases in 12 dialogues*")
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    assert main(["compare", "rag-baseline.json", "results.json", "--json"]) == 0
    comparison = json.loads(capsys.readouterr().out)["comparisons"][0]
    assert (comparison["n_pairs"], comparison["n_units"], comparison["unit"]) == (60, 12, "dialogue")


def test_a_baseline_stores_the_cluster(project: Project) -> None:
    project.says(turns(20, 11), 'cluster="document"')
    project.run(*BASELINE, "--rag-update-baseline")
    baseline = json.loads(Path(project.path / "rag-baseline.json").read_text(encoding="utf-8"))
    assert [testbed["cluster"] for testbed in baseline["testbeds"].values()] == ["document"]
