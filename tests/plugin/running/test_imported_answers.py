"""OmniEval's predictions, imported and scored at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from rag_project import Mode, Project

from pytest_rageval.cli import main

SUITE = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy", "token_f1", "omnieval_map_compat"], gates=["accuracy >= 0.6"])
    def test_imported(rag):
        ...
"""


def test_imported_predictions_are_scored(
    project: Project, mode: Mode, fixtures_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(project.path / "cases.jsonl")
    assert main(["import", "omnieval-predictions", str(fixtures_dir / "imports" / "omnieval"), "--out", out]) == 0
    capsys.readouterr()
    project.file("test_it.py", SUITE)
    run = project.run(*mode, "--rag-answers", "cases.answers.jsonl")
    assert run.status == 0
    assert set(run.statuses.values()) == {"scored"}
    assert run.gates["accuracy >= 0.6"]["value"] == pytest.approx(4 / 6)
    run.said("accuracy by topic x task*", "topic*conversational_qa*extractive_qa*micro*macro", "*人寿保险*1.00 (1)*")
    run.said("*基金*0.67 (3)*0.50 (2)*0.60 (5)*")
    second = next(o for o in run.results["outcomes"] if o["facets"].get("round") == "2")
    assert second["facets"]["dialogue"] == "投资-基金-多轮对话能力-0"
    assert second["scores"]["omnieval_map_compat"]["value"] == 1
