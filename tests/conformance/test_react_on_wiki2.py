"""`react` with the model `embedded` over 6,119 real pages of Wikipedia and 101 questions."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from support.projects.rag_project import Project, bare

SUITE = """
    [[testbed]]
    name = "wiki2"
    dataset = "jsonl:{folder}/questions.jsonl"
    passages = "retrieved"
    metrics = ["page_R@8"]
"""


def test_the_first_search_succeeds_and_the_ranking_has_the_evidence(rageval_data: Path, project: Project) -> None:
    folder = rageval_data / "systems" / "wiki2"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    project.file("pytest.ini", f"[pytest]\nrag_corpus = {folder}/pages.jsonl")
    project.file("wiki2.rag.toml", SUITE.replace("{folder}", str(folder)))
    start = time.perf_counter()
    run = project.run("--rag-system", "react")
    assert time.perf_counter() - start < 60
    assert run.status == 0, run.text
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    evidence = {row["id"]: {title for titles in row["provenance"] for title in titles} for row in rows}
    assert len(run.outcomes) == len(evidence) == 101
    hits = 0
    for name, outcome in run.outcomes.items():
        calls = [step["detail"] for step in outcome["answer"]["trace"] if step["kind"] == "tool"]
        assert calls[0]["name"] == "Search"
        hits += bool({passage["page"] for passage in calls[0].get("passages", ())} & evidence[name])
    assert hits >= 88
    recalls = [outcome["scores"]["page_R@8"]["value"] for outcome in run.outcomes.values()]
    assert sum(recalls) / len(recalls) >= 0.45
    assert {outcome["status"] for outcome in run.outcomes.values()} == {"scored"}
    again = project.run("--rag-system", "react", "-n2")
    assert bare(again.results) == bare(run.results)
