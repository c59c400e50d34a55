"""R-Eval's format: recompute the published ids, and run the published questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.projects.rag_project import Project

from pytest_rageval.datasets.reval import load


@pytest.fixture
def questions(rageval_data: Path) -> Path:
    path = rageval_data / "systems" / "reval" / "3-1_hotpotqa.jsonl"
    if not path.is_file():
        pytest.skip(f"R-Eval's questions are not at {path}")
    return path


def test_every_id_follows_the_published_rule(questions: Path, tmp_path: Path) -> None:
    published = load(questions)
    assert len(published) == 100
    records = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    without = [{key: value for key, value in record.items() if key != "_id"} for record in records]
    path = tmp_path / questions.name
    path.write_text("".join(json.dumps(each) + "\n" for each in without), encoding="utf-8")
    assert [each.id for each in load(path)] == [record["_id"] for record in records]
    assert [each.id for each in published] == [record["_id"] for record in records]
    assert [each.gold for each in published] == [(tuple(record["outputs"]),) for record in records]
    facets = {"dataset": "hotpotqa", "task": "hotpotqa", "task_id": "3-1", "level": "knowledge_application",
              "domain": "wiki", "environment": "wiki", "language": "en"}  # fmt: skip
    assert all(each.facets == facets for each in published)


def test_gold_answers_and_their_first_words_score_as_hotpotqa_scores_them(questions: Path, project: Project) -> None:
    folder = questions.parent
    rows = [{"id": each.id, "answer": each.gold[0][0]} for each in load(questions)]
    project.data(rows, "answers.jsonl")
    project.file("t.rag.toml", f'[[testbed]]\nname = "reval"\ndataset = "reval:{folder}"\n')
    run = project.run("--rag-answers=answers.jsonl", "-m", "knowledge_application")
    assert run.status == 0, run.text
    scores = [outcome["scores"] for outcome in run.results["outcomes"]]
    assert len(scores) == 100
    assert {score["hotpot_f1"]["value"] for score in scores} == {1.0}
    assert {score["exact_match"]["value"] for score in scores} == {1.0}
