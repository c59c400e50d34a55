"""`rageval score` gives the scores and gates of `pytest --rag-answers`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.projects.rag_project import Project
from support.samples.recorded_data import answer_rows, case_rows, write_rows
from support.samples.same_scores import same_gates, same_outcomes

import pytest_rageval as rag
from pytest_rageval.scoring.scores import Scores

N = int(os.environ.get("SCORED_CASES", "200"))
"""Number of cases; 1,000 take a minute."""

METRICS = ["accuracy", "token_f1", "rejection_rate", "has_answer"]
GATES = [
    "accuracy >= 0.6",
    "accuracy[topic=*] >= 0.7",
    "token_f1[system=alpha, topic=*, min_n=10] >= 0.5",
    "error_rate <= 0.01",
    "cost_usd <= 0.1",
    "latency_p95 <= 0.9",
    "n >= 10",
]
BASELINE_GATES = [
    "accuracy >= baseline - 0.01",
    "token_f1[topic=*] >= baseline",
    "accuracy[system=beta] >= baseline - 0.5",
]
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics={metrics}, gates={gates}{cluster})
    def test_it(rag):
        ...
"""
LIKE = pytest.approx
FIXTURES = Path(__file__).parents[3] / "fixtures"


def _run_pytest(project: Project, gates: list[str], cluster: str | None, *args: str) -> Any:
    more = f", cluster={cluster!r}" if cluster else ""
    project.file("test_it.py", TEST.format(metrics=METRICS, gates=gates, cluster=more))
    return project.run("--rag-answers", "new.jsonl", *args).results


@pytest.fixture
def data(project: Project) -> Project:
    write_rows(project.path / "cases.jsonl", case_rows(N))
    write_rows(project.path / "old.jsonl", answer_rows(N, seed=2, right=0.9, whole=True))
    write_rows(project.path / "new.jsonl", answer_rows(N, seed=3, right=0.65))
    return project


@pytest.mark.parametrize("cluster", [None, "doc"])
def test_scores_and_gates_are_those_of_pytest(data: Project, cluster: str | None) -> None:
    results = _run_pytest(data, GATES, cluster)
    scores = rag.score("jsonl:cases.jsonl", "new.jsonl", metrics=METRICS, gates=GATES, cluster=cluster, jobs=1)
    assert {outcome["error_type"] for outcome in results["outcomes"]} == {None, "model_error", "no_recorded_answer"}
    same_outcomes(scores, results)
    same_gates(scores, results)
    assert {gate.status for gate in scores.gates} == {"passed", "failed"}
    assert any(gate.n_units for gate in scores.gates)


def test_baseline_gates_are_those_of_pytest(data: Project) -> None:
    data.file("test_it.py", TEST.format(metrics=METRICS, gates=BASELINE_GATES, cluster=", cluster='doc'"))
    base = ("--rag-baseline", "base.json")
    assert data.run("--rag-answers", "old.jsonl", *base, "--rag-update-baseline").status in (0, 1)
    results = _run_pytest(data, BASELINE_GATES, "doc", *base)
    options: dict[str, Any] = {"metrics": METRICS, "cluster": "doc", "jobs": 1}
    rag.score("jsonl:cases.jsonl", "old.jsonl", out="old-scores", **options)
    for baseline in ("base.json", "old-scores"):
        scores = rag.score("jsonl:cases.jsonl", "new.jsonl", gates=BASELINE_GATES, baseline=baseline, **options)
        same_gates(scores, results)
    assert any(gate["status"] == "failed" and gate["baseline"] is not None for gate in results["gates"])
    assert json.loads((data.path / "old-scores" / "summary.json").read_text())["gates"] == []


SUITE = """
    [[testbed]]
    name = "plain"
    dataset = "jsonl:cases.jsonl"
    metrics = ["accuracy", "rejection_rate"]
    where = { topic = "Fares" }
    facets = { stage = "live" }
    cluster = "doc"
    gates = ["accuracy[stage=live] >= 0.6"]

    [[testbed]]
    name = "noisy"
    dataset = "jsonl:cases.jsonl"
    ability = "noise_robustness"
    noise_rate = [0.0, 0.5]
    passages = 2
    gates = ["accuracy[noise_rate=*] >= 0.7"]
"""


def _same_suite(project: Project, suite: str, answers: str) -> Scores:
    """Assert that a suite has the same scores and gates as in pytest; return its scores."""
    project.file("all.rag.toml", suite)
    results = project.run("--rag-answers", answers).results
    scores = rag.score("all.rag.toml", answers, jobs=1)
    outcomes = {
        (o["testbed"], o["case_id"], o["system"], o["facets"].get("noise_rate")): o for o in results["outcomes"]
    }
    rows = {(r["testbed"], r["case_id"], r["system"], r.get("facet.noise_rate")): r for r in scores.rows()}
    assert rows.keys() == outcomes.keys()
    assert len({row["nodeid"] for row in rows.values()}) == len(rows)
    for key, row in rows.items():
        values = {name: score["value"] for name, score in outcomes[key]["scores"].items() if score["value"] is not None}
        assert {name[6:]: value for name, value in row.items() if name.startswith("score.")} == LIKE(values, abs=1e-9)
    same_gates(scores, results)
    return scores


def test_a_suite_has_the_same_scores_as_in_pytest(data: Project) -> None:
    _same_suite(data, SUITE, "new.jsonl")


RGB = """
    [[testbed]]
    name = "integration"
    dataset = "rgb:en_int.json"
    ability = "information_integration"
    noise_rate = [0.0, 0.4]
    passages = 3
    gates = ["accuracy[noise_rate=*] >= 0.9"]
"""


def test_datasets_of_other_formats_have_the_same_scores_as_in_pytest(project: Project) -> None:
    project.file("en_int.json", (FIXTURES / "datasets" / "rgb" / "en_int.json").read_text(encoding="utf-8"))
    write_rows(project.path / "answers.jsonl", [{"id": "en_int-0", "answer": "Mara Voss and Tom Reed"},
                                                {"id": "en_int-1", "answer": "In 1950."}])  # fmt: skip
    scores = _same_suite(project, RGB, "answers.jsonl")
    assert [row["score.accuracy"] for row in scores.rows()] == [1.0, 1.0, 0.0, 0.0]
    assert scores.gates[0].status == "failed"


FERRY = "The ferry crosses the bay. A ticket costs four euro. It runs until ten."
CORPUS_TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["R@1", "page_R@2", "accuracy"])
    def test_it(rag):
        ...
"""


def test_evidence_in_a_corpus_gives_the_same_scores_as_in_pytest(project: Project) -> None:
    quotes = ["A ticket costs four euro.", "It runs until ten.", "It never sinks."]
    cases = [{"id": f"q{at}", "question": "?", "answers": ["four"], "evidence": [{"page": "ferry", "quote": quote}]}
             for at, quote in enumerate(quotes)]  # fmt: skip
    write_rows(project.path / "cases.jsonl", cases)
    ranking = [{"id": "ferry#1", "score": 2.0}, {"id": "ferry#0", "score": 1.0}]
    answers = [{"id": f"q{at}", "answer": "four", "ranking": ranking} for at in range(3)]
    write_rows(project.path / "answers.jsonl", answers)
    write_rows(project.path / "corpus.jsonl", [{"id": "ferry", "text": FERRY}])
    project.file("test_it.py", CORPUS_TEST)
    corpus = ("-o", "rag_corpus=corpus.jsonl", "-o", "rag_chunking=sentences 1")
    results = project.run("--rag-answers", "answers.jsonl", *corpus).results
    options: dict[str, Any] = {"metrics": ["R@1", "page_R@2", "accuracy"], "jobs": 1}
    corpus_options: dict[str, Any] = {"corpus": ["corpus.jsonl"], "chunking": "sentences 1"}
    scores = rag.score("jsonl:cases.jsonl", "answers.jsonl", **corpus_options, **options)
    same_outcomes(scores, results)
    assert [row.get("score.R@1") for row in scores.rows()] == [1.0, 0.0, None]
    assert [row.get("evidence") for row in scores.rows()] == [o["evidence"] for o in results["outcomes"]]
    assert "1 of 3 cases with evidence" in scores.notes[0]
    bare = rag.score("jsonl:cases.jsonl", "answers.jsonl", **options)
    assert all("score.R@1" not in row for row in bare.rows())
