"""The page's comparison with a baseline, also for results of older versions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_rageval.report.files.results_json import schema
from pytest_rageval.report.html.case_pairs import baseline_cases_of
from pytest_rageval.report.html.comparison_rows import comparison_of
from pytest_rageval.report.html.gate_rows import gates_of
from pytest_rageval.report.html.page import html_of

Results = dict[str, Any]
DIFFERENT_DATA = "data or settings have changed since"


@pytest.fixture
def museum(fixtures_dir: Path) -> Results:
    results: Results = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    return results


def comparison_in(results: Results) -> dict[str, Any]:
    result = comparison_of(results, {})
    assert result is not None
    return result


def test_results_without_score_counts_have_one_score_per_case(museum: Results) -> None:
    expected = [row["n"] for row in comparison_in(museum)["whole"]]
    for each in museum["comparison"]["comparisons"]:
        if each["n"] == each["n_pairs"]:
            del each["n"]
    assert [row["n"] for row in comparison_in(museum)["whole"]] == expected
    assert expected == ["23", "23", "22", "22", "9 (3 cases)", "9 (3 cases)"]
    Draft202012Validator(schema()).validate(museum)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda results: None, True),
        (lambda results: results["comparison"]["baseline"].update(same_fingerprint=True), False),
        (lambda results: results["plan"].update(part="--rag-limit 3"), False),
        (lambda results: results["plan"].update(narrowed=True), False),
        (lambda results: results["plan"]["unfinished"].update({"t.py::t[q1]": "t.py::t"}), False),
        (lambda results: results["run"].update(interrupted=True), False),
        (lambda results: results["outcomes"][0].update(status="skipped"), False),
        (lambda results: results["baseline"]["testbeds"].update({"t.py::u": {"name": "u", "metrics": ["n"]}}), False),
    ],
)
def test_different_data_or_settings_are_reported_for_a_whole_run(
    museum: Results, change: Callable[[Results], None], expected: bool
) -> None:
    museum["comparison"]["baseline"]["same_fingerprint"] = False
    change(museum)
    assert (DIFFERENT_DATA in "".join(html_of(museum))) == expected


def test_broken_and_fixed_cases_are_those_of_the_primary_metrics(museum: Results) -> None:
    rows = museum["comparison"]["comparisons"]
    accuracy, overlap = (next(row for row in rows if row["metric"] == name) for name in ("accuracy", "token_f1"))
    overlap |= {"broken": [], "fixed": accuracy["broken"]}
    result = comparison_in(museum)
    assert (result["broken"]["n"], result["fixed"]["n"]) == (len(accuracy["broken"]), 0)
    assert {metric for _, metric in result["broken"]["cases"]} == {"accuracy"}


def test_each_case_has_the_cause_from_the_comparison(museum: Results) -> None:
    accuracy = museum["comparison"]["comparisons"][0]
    result = baseline_cases_of(museum)
    assert result is not None
    assert [result.causes[nodeid] for nodeid in accuracy["broken"]] == ["generation"] * accuracy["causes"]["generation"]
    museum["plan"]["metrics"]["accuracy"]["of"] = "retrieval"
    result = baseline_cases_of(museum)
    assert result is not None
    assert {result.causes[nodeid] for nodeid in accuracy["broken"]} == {"retrieval"}


@pytest.mark.parametrize(("value", "differs"), [(0.9333, True), (0.9206, False), (None, True)])
def test_a_gate_shows_its_value_over_the_pairs_if_it_differs(
    museum: Results, value: float | None, differs: bool
) -> None:
    regression = next(gate for gate in museum["gates"] if gate["verdict"])
    museum["gates"] = [regression | {"value": value, "baseline": 0.9286, "delta": -0.008}]
    (row,) = gates_of(museum)
    assert (row["was"], row["now"]) == ("0.93", "0.92")
    assert (row["n_now"] == str(regression["n_pairs"])) == differs or regression["n_pairs"] == regression["n"]
    page = "".join(html_of(museum))
    assert (", over all cases " in page) == differs
    (without_pairs,) = gates_of({"gates": [regression | {"delta": None, "n_pairs": 0}]})
    assert without_pairs["now"] == without_pairs["value"]


def test_a_passed_gate_with_an_inconclusive_cell_is_shown_as_inconclusive(museum: Results) -> None:
    regression = next(gate for gate in museum["gates"] if gate["verdict"])
    decided, inconclusive = (cell | {"status": "passed", "verdict": None} for cell in regression["cells"])
    inconclusive["verdict"] = "inconclusive"
    (row,) = gates_of({"gates": [regression | {"status": "passed", "cells": [decided, inconclusive]}]})
    assert row["status"] == "inconclusive"
    assert [cell["status"] for cell in row["cells"]] == ["passed", "inconclusive"]
