"""The page's pairs of cases and answers of the baseline run and this run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.report.html.baseline_answers import BaselineAnswers, read_baseline_answers
from pytest_rageval.report.html.case_pairs import BaselineCases, baseline_cases_of

T = "t.py::t"


def outcome(name: str, text: str | None = "then", data: str = "", **facets: str) -> dict[str, Any]:
    fields = {"testbed": T, "case_id": name, "system": "mine", "facets": {"system": "mine", **facets}, "data": data}
    result = {"status": "error" if text is None else "scored", "answer": None if text is None else {"text": text}}
    setting = "".join(f"-{key}={value}" for key, value in facets.items())
    return {"nodeid": f"{T}[{name}{setting}]", **fields, **result}


def answer_of(text: str | None, status: str = "scored") -> dict[str, Any]:
    return {"text": text, "status": status, "abstained": None, "passages": []}


def baseline_case(name: str, value: float | None, data: str = "", **facets: str) -> dict[str, Any]:
    scores = {} if value is None else {"accuracy": value}
    fields = {"testbed": T, "case": name, "system": "mine", "scores": scores, "facets": facets, "data": data}
    return {**fields, "evidence": None, "said": [], "failed": value is None}


def results_with(*outcomes: dict[str, Any], cases: Any = (), run: str = "r1", **more: Any) -> dict[str, Any]:
    head = {"run": {"id": run, "started": ""}, "fingerprint": "", "versions": {}, "metrics": {}, "testbeds": {}}
    comparison = {"baseline": {"run": run}}
    return {
        "instances": {"q1": {"question": "?"}},
        "plan": {"metrics": {"accuracy": {"of": "answer"}}},
        "testbeds": {T: {"metrics": ["accuracy"]}},
        "outcomes": list(outcomes),
        "baseline": {**head, "cases": list(cases)},
        "comparison": comparison,
    } | more


def pairs_of(results: dict[str, Any]) -> BaselineCases:
    result = baseline_cases_of(results)
    assert result is not None
    return result


def test_the_page_pairs_cases_like_the_comparison() -> None:
    results = results_with(
        outcome("q1", repeat="1"),
        outcome("q1", repeat="2", knew="true"),
        outcome("q2", noise_rate="0.4"),
        outcome("q2", noise_rate="0.8"),
        outcome("new", data="a" * 16),
        outcome("q4", data="b" * 16),
        outcome("q5", None),
        cases=[
            baseline_case("q1", 0.25),
            baseline_case("q2", 0.5, noise_rate="0.4"),
            baseline_case("old", 0.75, data="a" * 16),
            baseline_case("q4", 1.0, data="c" * 16),
            baseline_case("q5", 1.0),
        ],
    )
    result = pairs_of(results)
    scores = {node: case.scores["accuracy"] for node, case in result.scored.items()}
    first, second_repeat, low_noise, _, renamed, _, failed = (each["nodeid"] for each in results["outcomes"])
    assert scores == {first: 0.25, second_repeat: 0.25, low_noise: 0.5, renamed: 0.75}
    assert result.known.keys() - result.scored.keys() == {failed}


def test_results_without_a_comparison_have_no_pairs() -> None:
    assert baseline_cases_of({"outcomes": [outcome("q1")]}) is None


def test_the_baseline_answer_is_that_of_the_same_case_and_setting_and_repeat() -> None:
    outcomes = [
        outcome("q1", repeat="2", knew="true"),
        outcome("q1", repeat="3"),
        outcome("q3"),
        outcome("new", data="a" * 16),
    ]
    results = results_with(
        *outcomes, cases=[baseline_case("q1", 1.0), baseline_case("q3", None), baseline_case("old", 1.0, data="a" * 16)]
    )
    baseline_outcomes = [
        outcome("q1", "once", repeat="1"),
        outcome("q1", "twice", repeat="2"),
        outcome("q3", None),
        outcome("old", "by its old name"),
    ]
    earlier = BaselineAnswers(baseline_outcomes, pairs_of(results))
    assert [earlier.of(each) for each in outcomes] == [
        answer_of("twice"),
        None,
        answer_of(None, "error"),
        answer_of("by its old name"),
    ]
    assert earlier.of(outcome("q9")) is None


def test_the_baseline_run_is_read_if_it_is_available(tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    results_file = tmp_path / "r1" / "results.json"
    results_file.write_text(json.dumps({"outcomes": [outcome("q1")]}))
    results = results_with(outcome("q1", "now"), cases=[baseline_case("q1", 1.0)])
    result = read_baseline_answers(tmp_path, results, pairs_of(results))
    assert result is not None
    assert result.of(outcome("q1")) == answer_of("then")
    deleted_run = results_with(outcome("q1"), cases=[baseline_case("q1", 1.0)], run="gone")
    assert read_baseline_answers(tmp_path, deleted_run, pairs_of(deleted_run)) is None
    without_texts = {**results, "instances": {"q1": {"passages": {}}}}  # texts are left out
    assert read_baseline_answers(tmp_path, without_texts, pairs_of(without_texts)) is None
    results_file.write_text("{}")
    assert read_baseline_answers(tmp_path, results, pairs_of(results)) is None


@pytest.mark.parametrize("name", ["", "../r1", "/r1", "."])
def test_a_run_id_cannot_lead_outside_the_runs_folder(tmp_path: Path, name: str) -> None:
    for folder in (tmp_path, tmp_path / "r1"):
        folder.mkdir(exist_ok=True)
        (folder / "results.json").write_text(json.dumps({"outcomes": [outcome("q1")]}))
    (tmp_path / "runs").mkdir()
    results = results_with(outcome("q1"), cases=[baseline_case("q1", 1.0)], run=name)
    assert read_baseline_answers(tmp_path / "runs", results, pairs_of(results)) is None
