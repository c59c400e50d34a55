"""``--rag-answers``: answers from a file, and cases without a recorded answer."""

from __future__ import annotations

import json

from support.projects.rag_project import RIGHT, Mode, Project, Row, cases

RATES = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", ability="noise_robustness", noise_rate=[0.0, 0.5], passages=2)
    def test_it(rag):
        ...
"""
POOL = [
    {"id": f"d{number}", "text": f"text {number}", "role": "positive" if number < 3 else "negative"}
    for number in range(1, 5)
]


def _record(project: Project, *rows: Row) -> tuple[str, str]:
    project.data(rows, "answers.jsonl")
    return ("--rag-answers", "answers.jsonl")


def test_answers_are_matched_by_id(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, RIGHT, RIGHT), "gates=['accuracy >= 0.5', 'error_rate <= 0.3']")
    args = _record(
        project,
        {"id": "q1", "answer": "Paris", "ranking": [{"id": "d", "score": 1, "text": "t"}], "usage": {"cost_usd": 0.5}},
        {"id": "q2", "answer": "Rome", "abstained": True},
        {"id": "q9", "answer": "for nobody"},
    )
    run = project.run(*mode, *args)
    assert run.status == 1
    assert run.statuses == {"q1": "scored", "q2": "scored", "q3": "error"}
    first = run.outcomes["q1"]
    assert first["system"] == "recorded"
    assert first["answer"]["ranking"] == [{"doc_id": "d", "score": 1.0, "text": "t"}]
    assert first["answer"]["usage"]["cost_usd"] == 0.5
    assert run.outcomes["q2"]["answer"]["abstained"] is True
    missing = run.outcomes["q3"]
    assert missing["error_type"] == "no_recorded_answer"
    assert missing["scores"] == {}  # an error, not a zero
    assert "'q3'" in missing["error"]
    assert run.gates["accuracy >= 0.5"]["value"] == 0.5
    assert run.gates["error_rate <= 0.3"]["status"] == "failed"
    run.said("*1 recorded answer*for no case*'q9'*")


def test_answers_are_matched_by_id_and_setting(project: Project) -> None:
    project.says(cases("?", passages=POOL), test=RATES)
    args = _record(
        project,
        {"id": "q1-noise_rate=0", "answer": "Paris"},
        {"id": "q1", "noise_rate": 0.5, "answer": "Rome"},
    )
    run = project.run(*args)
    assert run.status == 0
    texts = {outcome["facets"]["noise_rate"]: outcome["answer"]["text"] for outcome in run.results["outcomes"]}
    assert texts == {"0": "Paris", "0.5": "Rome"}


def test_the_row_that_matches_more_facets_of_a_case_is_used(project: Project) -> None:
    project.says(cases("?", passages=POOL), test=RATES)
    args = _record(project, {"id": "q1", "answer": "any"}, {"id": "q1", "noise_rate": 0.5, "answer": "half"})
    texts = {o["facets"]["noise_rate"]: o["answer"]["text"] for o in project.run(*args).results["outcomes"]}
    assert texts == {"0": "any", "0.5": "half"}


def test_recorded_systems_are_compared(project: Project) -> None:
    project.says(cases("?", "?"), "gates=['accuracy[system=new] >= 1']")
    rows = [
        {"id": name, "answer": answer, "system": system}
        for system, answer in (("old", "Rome"), ("new", "Paris"))
        for name in ("q1", "q2")
    ]
    run = project.run(*_record(project, *rows))
    assert run.status == 0
    assert {matrix["system"]: matrix["total"]["mean"] for matrix in run.results["matrices"]} == {"old": 0.0, "new": 1.0}
    (difference,) = run.results["differences"]
    assert (difference["system"], difference["minus"], difference["total"]["mean"]) == ("new", "old", 1.0)
    assert len(run.results["outcomes"]) == 4


def test_no_system_is_built_for_recorded_answers(project: Project) -> None:
    fixture = "import pytest\n\n@pytest.fixture(scope='session')\ndef rag_system():\n    raise ValueError\n"
    project.says(cases("?"), conftest=fixture)
    run = project.run(*_record(project, {"id": "q1", "answer": "Paris"}))
    assert run.status == 0


def test_malformed_records_are_refused_before_any_test_runs(project: Project) -> None:
    project.says(cases(RIGHT))
    project.file("answers.jsonl", json.dumps({"id": "q1", "anwser": "Paris"}))
    run = project.run("--rag-answers", "answers.jsonl")
    assert run.status == 4
    assert "answers.jsonl:1" in run.result.stderr.str()
    assert run.results is None


def test_a_negative_cost_is_refused(project: Project) -> None:
    project.says(cases(RIGHT))
    project.file("answers.jsonl", json.dumps({"id": "q1", "answer": "Paris", "usage": {"cost_usd": -100}}))
    run = project.run("--rag-answers", "answers.jsonl", "--rag-gate", "cost_usd <= 1")
    assert run.status == 4
    message = "answers.jsonl:1: usage.cost_usd: found -100, wanted a number of at least 0"
    assert message in run.result.stderr.str()
    assert run.results is None
