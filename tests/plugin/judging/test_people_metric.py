"""``people:METRIC`` corrects a judge's mean by people's labels and detects biased judges."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, case
from support.projects.scripted_projects import judged, refused

from pytest_rageval.analysis.corrected_mean import corrected_mean
from pytest_rageval.cli import main

RATE = "rejection_rate_judged"
PEOPLE = f"people:{RATE}"

TEST = f"""
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", gates=["{PEOPLE} >= 0.2", "{RATE} >= 0.2"])
    def test_it(rag):
        ...
"""

RULES = """{"> no idea": verdict("rejected"), "> maybe": verdict("rejected"), "": verdict("answered")}"""
"""The rules of a judge that labels "maybe" as a refusal; people do not."""

WORDS = ("no idea", "maybe", "Paris")
ANSWERS = [WORDS[at % 3] for at in range(36)]
ROWS = [case(f"c{at}", f"say {word}", topic="odd" if at % 2 else "even") for at, word in enumerate(ANSWERS)]


def labels(n: int, **more: Any) -> list[dict[str, Any]]:
    """Return people's labels of the first answers."""
    return [{"id": f"c{at}", "label": int(ANSWERS[at] == "no idea"), "metric": RATE, **more} for at in range(n)]


def write_project(project: Project, rows: list[dict[str, Any]], ini: str = "", test: str = TEST) -> None:
    judged(project, ROWS, test, rules=RULES)
    project.data(rows, "labels.jsonl")
    project.file("pytest.ini", f"[pytest]\nrag_judge_labels = labels.jsonl\n{ini}")


def expected_mean(n: int) -> Any:
    people, judge = [float(word == "no idea") for word in ANSWERS], [float(word != "Paris") for word in ANSWERS]
    return corrected_mean(people[:n], judge[:n], judge[n:])


def test_a_mean_is_corrected_by_labels_and_a_biased_judge_fails_its_gates(project: Project, mode: Mode) -> None:
    write_project(project, labels(18))
    run = project.run(*mode)
    assert run.status == 1
    people, raw = run.gates[f"{PEOPLE} >= 0.2"], run.gates[f"{RATE} >= 0.2"]
    assert (people["status"], people["n"]) == ("passed", 36)
    assert people["value"] == pytest.approx(expected_mean(18).value)
    assert people["ci95"] == pytest.approx(expected_mean(18).ci95)
    assert people["labels"] == {"n": 18, "source": "labels of this run's answers"}
    assert (raw["status"], raw["value"]) == ("failed", pytest.approx(2 / 3))
    assert raw["reason"] == f"biased judge, gate {PEOPLE} instead: its mean is 0.33 above people's on 18 labels"
    (bias,) = run.results["sections"]["bias"]
    assert (bias["system"], bias["n"], bias["verdict"]) == ("rag_system", 18, "biased judge")
    assert (bias["judged"], bias["people"], bias["bias"]) == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    run.said(
        f"biased judge, gate {PEOPLE} instead: its mean is 0.33 above people's on 18 labels",
        f"warning: biased judge: {RATE} of rag_system is 0.67 where people say 0.33 on 18 labels; gate *",
    )
    assert run.outcomes["c0"]["scores"][PEOPLE]["value"] == 1.0
    assert run.outcomes["c30"]["scores"][PEOPLE]["reason"] == "not_applicable: no person labelled this answer"


def test_merged_shards_have_the_corrected_mean_that_agreement_reports(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(project, labels(18), "rag_judge_max_bias = 0.2")
    shards = [project.run("--rag-shard", f"{at}/2", json_path=f"shard{at}.json") for at in (1, 2)]
    assert {gate["status"] for shard in shards for gate in shard.results["gates"]} == {"skipped"}
    monkeypatch.chdir(project.path)
    assert main(["merge", "shard1.json", "shard2.json", "--out", "whole.json"]) == 1
    gates = {gate["expr"]: gate for gate in json.loads((project.path / "whole.json").read_text())["gates"]}
    assert gates[f"{PEOPLE} >= 0.2"]["value"] == pytest.approx(expected_mean(18).value)
    assert gates[f"{RATE} >= 0.2"]["status"] == "failed"
    capsys.readouterr()
    assert main(["agreement", "labels.jsonl", "whole.json", "--metric", RATE, "--json"]) == 0
    (mean,) = json.loads(capsys.readouterr().out)["means"]
    assert mean["value"] == gates[f"{PEOPLE} >= 0.2"]["value"]
    assert main(["show", "whole.json"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert f"biased judge: {RATE} of rag_system is 0.67 where people say 0.33 on 18 labels" in output


def test_too_few_labels_leave_the_corrected_mean_unscored(project: Project) -> None:
    write_project(project, labels(9))
    run = project.run("-v")
    gate = run.gates[f"{PEOPLE} >= 0.2"]
    assert (gate["status"], gate["value"]) == ("failed", None)
    assert gate["reason"] == "too_few_labels, 9 of 10 (people's labels of the system's answers)"
    assert run.gates[f"{RATE} >= 0.2"]["status"] == "passed"
    (bias,) = run.results["sections"]["bias"]
    assert (bias["n"], bias["verdict"]) == (9, "bias unknown")
    run.said(
        f"{RATE} * rag_system * 9 * 0.67 * 0.33",
        f"{RATE} * +0.33 * bias unknown",
        "too_few_labels, 9 of 10 (people's labels of the system's answers)",
    )


def test_only_cells_with_enough_labels_are_corrected(project: Project) -> None:
    test = TEST.replace(f'"{PEOPLE} >= 0.2", "{RATE} >= 0.2"', f'"{PEOPLE}[topic=*] >= 0.2"')
    write_project(project, [*labels(24)[::2], *labels(10)[1::2]], "rag_judge_max_bias = 0.5", test)
    run = project.run("-v", "--rag-matrix", PEOPLE, "--rag-cols", "language")
    (gate,) = run.results["gates"]
    values = {cell["slice"]["topic"]: (cell["value"], cell["labels"]["n"]) for cell in gate["cells"]}
    assert values["odd"] == (None, 5)
    assert values["even"][1] == 12
    assert values["even"][0] is not None
    matrix = run.results["matrix"]
    assert [cells[0]["mean"] for cells in matrix["cells"]] == [values["even"][0], None]
    assert matrix["cells"][0][0]["labels"] == {"n": 12, "source": "labels of this run's answers"}
    assert run.results["sections"]["bias"][0]["verdict"] == "not biased"


EARLIER = (
    TEST
    + """
    @rag_case("labelled:labels.csv", metrics=["RATE"])
    def test_judge(rag):
        ...
""".replace("RATE", RATE)
)


def sheet(project: Project, n: int, answer_at: Any) -> None:
    """Write a sheet with earlier answers of the system to the cases of the run."""
    rows = [
        f"c{at},rag_system,{RATE},say {answer_at(at)},Paris,,{answer_at(at)},{int(answer_at(at).startswith(WORDS[0]))}"
        for at in range(n)
    ]
    project.file("labels.csv", "\n".join(["id,system,metric,question,gold,passages,answer,label", *rows]))


def test_labels_of_earlier_answers_correct_the_mean_and_do_not_hide_a_drop(project: Project) -> None:
    """Earlier, two thirds of the answers were refusals and the judge erred on the rest; now one third are refusals."""
    judged(project, ROWS, EARLIER, rules=RULES)
    sheet(project, 24, lambda at: ("maybe", "no idea", "no idea")[at % 3] + "!")
    project.file("pytest.ini", "[pytest]\nrag_judge_labels = labels.csv\nrag_judge_max_bias = 0.5")
    run = project.run("-v")
    gate = run.gates[f"{PEOPLE} >= 0.2"]
    assert gate["labels"] == {"n": 24, "source": "labels of earlier answers"}
    assert gate["value"] == pytest.approx(2 / 3 - 1 / 3)
    run.said("*PASSED * 24 labels of earlier answers", f"{RATE} of rag_system: labels of earlier answers")
    assert run.results["sections"]["bias"][0]["labels"] == "labels of earlier answers"


def test_corrected_means_are_compared_if_both_runs_have_their_own_labels(project: Project) -> None:
    gate = f"{PEOPLE} >= baseline - 0.02"
    write_project(project, labels(18), test=TEST.replace(f"{PEOPLE} >= 0.2", gate).replace(f', "{RATE} >= 0.2"', ""))
    ini = ("--rag-baseline", "base.json")
    assert project.run(*ini, "--rag-update-baseline").status == 0
    (same,) = project.run(*ini).results["gates"]
    assert (same["status"], same["verdict"], same["delta"]) == ("passed", "not_worse", 0)
    assert same["baseline"] == pytest.approx(expected_mean(18).value)
    project.data([{"id": f"c{at}", "label": 0, "metric": RATE} for at in range(30)], "labels.jsonl")
    conftest = (project.path / "conftest.py").read_text()
    changed = conftest.replace('partition(" ")[2]', 'partition(" ")[2].replace("no idea", "Paris")')
    project.file("conftest.py", changed)
    (worse,) = project.run(*ini).results["gates"]
    assert (worse["status"], worse["verdict"], worse["value"]) == ("failed", "worse", 0)
    assert worse["delta"] == pytest.approx(-expected_mean(18).value)
    project.data(labels(9), "labels.jsonl")
    (few,) = project.run(*ini).results["gates"]
    assert (few["status"], few["verdict"]) == ("failed", "not_comparable")
    assert few["reason"] == "not comparable, this run has 9 of 10 labels of its own answers"


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        (f"{PEOPLE} >= 0.2", f"{PEOPLE} needs people's labels; name their file in the ini as rag_judge_labels"),
        ("people: >= 0.2", "metric 'people:' names no metric to correct; write people:METRIC"),
        (f"people:{PEOPLE} >= 0.2", f"corrects a metric that people do not label; write {PEOPLE}"),
        ("people:rejection_rat >= 0.2", "unknown metric 'rejection_rat'"),
    ],
)
def test_a_metric_that_cannot_be_corrected_is_refused(project: Project, gate: str, message: str) -> None:
    judged(project, ROWS, TEST.replace(f"{PEOPLE} >= 0.2", gate), rules=RULES)
    assert message in refused(project)
