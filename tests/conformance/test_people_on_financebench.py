"""Compare rule metrics with people's labels of FinanceBench's published answers of two systems."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SYSTEMS = ("claude-2", "gpt-4-1106-preview")
RIGHT = {"claude-2": 56, "gpt-4-1106-preview": 37}
METRICS = ("accuracy", "token_f1", "rouge_l", "has_answer")
WORTH = ("--value", "Correct Answer=1", "--value", "Incorrect Answer=0", "--value", "Refusal=0")

SUITE = f"""
[[testbed]]
name = "financebench"
dataset = "jsonl:cases.jsonl"
metrics = {json.dumps(METRICS)}
"""

Rows = list[dict[str, Any]]


def rows_of(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def command(folder: Path, *arguments: str) -> str:
    run = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def agreement(folder: Path, *arguments: str) -> Any:
    start = "import sys; from pytest_rageval.cli import main; sys.exit(main())"
    return json.loads(command(folder, "-c", start, "agreement", *arguments, *WORTH, "--json"))


@pytest.fixture(scope="module")
def project(rageval_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the scored recorded answers and the labels."""
    source = rageval_data / "financebench"
    if not source.is_dir():
        pytest.skip(f"FinanceBench is not at {source}")
    folder = tmp_path_factory.mktemp("financebench")
    label = [(system, row) for system in SYSTEMS for row in rows_of(source / f"{system}_inContext.jsonl")]
    cases = [
        {
            "id": row["financebench_id"],
            "question": row["question"],
            "answers": [row["answer"]],
            "topic": row["question_type"],
        }
        for row in rows_of(source / "financebench_open_source.jsonl")
    ]
    write(folder / "cases.jsonl", cases)
    both = [{"id": row["financebench_id"], "system": system} for system, row in label]
    write(
        folder / "answers.jsonl",
        [{**key, "answer": row["model_answer"]} for key, (_, row) in zip(both, label, strict=True)],
    )
    write(folder / "labels.jsonl", [{**key, "label": row["label"]} for key, (_, row) in zip(both, label, strict=True)])
    (folder / "financebench.rag.toml").write_text(SUITE)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command(folder, "-m", "pytest", "-q", "--rag-answers", "answers.jsonl")
    return folder


def test_every_label_is_matched_with_its_answer(project: Path) -> None:
    result = agreement(project, "labels.jsonl", "--by", "system")
    assert result["labels"] == {"answers": 300, "used": 300, "blank": [], "unmatched": {}}
    assert [judge["metric"] for judge in result["judges"]] == list(METRICS)
    for judge in result["judges"]:
        whole, systems = judge["agreement"], judge["by"]["system"]
        assert (whole["n"], whole["n_cases"], judge["unscored"]) == (300, 150, {})
        assert {system: sum(each["confusion"][1]) for system, each in systems.items()} == RIGHT
        assert judge["threshold"] == (0.5 if judge["metric"] in ("token_f1", "rouge_l") else None)
        assert whole["accuracy"]["value"] == pytest.approx(sum(whole["confusion"][at][at] for at in (0, 1)) / 300)
        low, high = whole["kappa"]["ci95"]
        contained = judge["metric"] in ("accuracy", "has_answer")
        assert -0.1 <= low <= whole["kappa"]["value"] <= high <= (0.5 if contained else 0.3)
        assert (whole["accuracy"]["value"] * 300 > 222.5) is contained
        assert whole["lower"]["value"] > 10 * whole["higher"]["value"]
    assert result["means"] == []


def test_a_few_labels_correct_the_mean(project: Path) -> None:
    write(project / "few.jsonl", rows_of(project / "labels.jsonl")[:150:3])
    result = agreement(project, "few.jsonl", "--metric", "accuracy")
    assert result["labels"]["answers"] == 50
    (mean,) = result["means"]
    assert (mean["system"], mean["n_labelled"], mean["n_judged"]) == ("claude-2", 50, 150)
    assert mean["raw"]["ci95"][1] < RIGHT["claude-2"] / 150
    assert mean["ci95"][0] < RIGHT["claude-2"] / 150 < mean["ci95"][1]


def test_correlations_of_preferences_equal_scipys(project: Path) -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy, whose values ours shall equal, is missing")
    right = {(row["id"], row["system"]): row["label"] == "Correct Answer" for row in rows_of(project / "labels.jsonl")}
    cases = sorted({case for case, _ in right})
    people = [right[case, SYSTEMS[0]] - right[case, SYSTEMS[1]] for case in cases]
    words = {1: SYSTEMS[0], 0: "tie", -1: SYSTEMS[1]}
    write(
        project / "pairs.jsonl",
        [
            {"id": case, "A": SYSTEMS[0], "B": SYSTEMS[1], "preferred": words[preference]}
            for case, preference in zip(cases, people, strict=True)
        ],
    )
    start = "import sys; from pytest_rageval.cli import main; sys.exit(main())"
    result = json.loads(command(project, "-c", start, "agreement", "pairs.jsonl", "--json"))
    run = json.loads(next((project / ".rageval" / "runs").glob("*/results.json")).read_text(encoding="utf-8"))
    scores = {(each["case_id"], each["system"]): each["scores"] for each in run["outcomes"]}
    assert result["pairs"]["used"] == len(cases) == 150
    assert [each["metric"] for each in result["metrics"]] == list(METRICS)
    for each in result["metrics"]:
        one, other = ([scores[case, system][each["metric"]]["value"] for case in cases] for system in SYSTEMS)
        difference = [first - second for first, second in zip(one, other, strict=True)]
        for name, test in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
            assert each["correlations"][name]["value"] == pytest.approx(test(people, difference).statistic, abs=1e-9)
        alike = [(d > 0) - (d < 0) == p for d, p in zip(difference, people, strict=True)]
        assert each["agreement"]["accuracy"]["value"] == pytest.approx(sum(alike) / 150)
        assert each["decided"]["value"] > 0.5
