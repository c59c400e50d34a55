"""Imported predictions of OmniEval and RGB run as recorded answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.rag_project import Project

from pytest_rageval.cli import main

SUITE = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy", "token_f1", "omnieval_map_compat"], gates=["accuracy >= 0.6"])
    def test_imported(rag):
        ...
"""


def test_imported_predictions_are_scored(
    project: Project, fixtures_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(project.path / "cases.jsonl")
    assert main(["import", "omnieval-predictions", str(fixtures_dir / "imports" / "omnieval"), "--out", out]) == 0
    capsys.readouterr()
    project.file("test_it.py", SUITE)
    run = project.run("-v", "--rag-answers", "cases.answers.jsonl")
    assert run.status == 0
    assert set(run.statuses.values()) == {"scored"}
    assert run.gates["accuracy >= 0.6"]["value"] == pytest.approx(4 / 6)
    run.said("accuracy by topic x task*", "topic*conversational_qa*extractive_qa*micro*macro", "*人寿保险*1.00 (1)*")
    run.said("*基金*0.67 (3)*0.50 (2)*0.60 (5)*")
    second = next(o for o in run.results["outcomes"] if o["facets"].get("round") == "2")
    assert second["facets"]["dialogue"] == "投资-基金-多轮对话能力-0"
    assert second["scores"]["omnieval_map_compat"]["value"] == 1


PUBLISHED = """
    from pytest_rageval import rag_case

    METRICS = ["rgb_all_rate_compat", "rejection_rate_rgb_compat", "fact_check_rate_compat", "error_detection_rate"]

    @rag_case("jsonl:cases.jsonl", metrics=METRICS, gates=[
        "rgb_all_rate_compat[noise_rate=1] >= 0.75", "rejection_rate_rgb_compat[noise_rate=1] >= 0.5",
        "fact_check_rate_compat[source=en_fact] >= 0.5", "error_detection_rate[source=en_fact] >= 0.5",
    ])
    def test_published(rag):
        ...
"""
REJECTION = "I can not answer the question because of the insufficient information in documents."
ERROR = "There are factual errors in the provided documents."


def test_predictions_of_rgb_give_the_published_rates(project: Project) -> None:
    predictions_by_file = {
        "en_refine_gull_temp0.2_noise1.0_passage1": [REJECTION, REJECTION, "At 9:00.", "At 8:00."],
        "en_fact_gull_temp0.2_noise0.0_passage1": [f"{ERROR} It opens at 9:00.", "At 8:00."],
    }
    for name, predictions in predictions_by_file.items():
        noise = float(name.partition("noise")[2].partition("_")[0])
        rows = [
            {"id": number, "query": "When does it open?", "ans": [["9:00", "nine"]], "label": [0], "prediction": text,
             "docs": ["It opens at 8:00."], "noise_rate": noise, "factlabel": 0}
            for number, text in enumerate(predictions)
        ]  # fmt: skip
        project.data(rows, f"result-en/prediction_{name}_correct0.0.json")
    out = str(project.path / "cases.jsonl")
    assert main(["import", "rgb-predictions", str(project.path / "result-en"), "--out", out]) == 0
    project.file("test_it.py", PUBLISHED)
    run = project.run("--rag-answers", "cases.answers.jsonl")
    assert run.status == 0
    assert [gate["value"] for gate in run.gates.values()] == [0.75, 0.5, 0.5, 0.5]
    assert [gate["n"] for gate in run.gates.values()] == [4, 4, 2, 2]
