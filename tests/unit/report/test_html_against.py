"""What the page tells of a baseline: of old results too, by the primary metrics, and of gates over the pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_rageval.report.files.results_json import schema
from pytest_rageval.report.html.case_pairs import paired_of
from pytest_rageval.report.html.comparison import comparison_of
from pytest_rageval.report.html.gate_rows import gates_of
from pytest_rageval.report.html.page import html_of

Results = dict[str, Any]
OTHERS = "data or settings have changed since"


@pytest.fixture
def museum(fixtures_dir: Path) -> Results:
    loaded: Results = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    return loaded


def compared(results: Results) -> dict[str, Any]:
    found = comparison_of(results, {})
    assert found is not None
    return found


def test_results_that_do_not_count_scores_are_those_of_a_score_a_case(museum: Results) -> None:
    wanted = [row["n"] for row in compared(museum)["whole"]]
    for each in museum["comparison"]["comparisons"]:
        if each["n"] == each["n_pairs"]:
            del each["n"]
    assert [row["n"] for row in compared(museum)["whole"]] == wanted
    assert wanted == ["23", "23", "22", "22", "9 (3 cases)", "9 (3 cases)"]
    Draft202012Validator(schema()).validate(museum)


@pytest.mark.parametrize(
    ("change", "wanted"),
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
def test_other_data_or_settings_are_told_of_a_whole_run(
    museum: Results, change: Callable[[Results], None], wanted: bool
) -> None:
    museum["comparison"]["baseline"]["same_fingerprint"] = False
    change(museum)
    assert (OTHERS in "".join(html_of(museum))) == wanted


def test_cases_that_broke_or_were_mended_are_those_of_the_primary_metrics(museum: Results) -> None:
    rows = museum["comparison"]["comparisons"]
    accuracy, overlap = (next(row for row in rows if row["metric"] == name) for name in ("accuracy", "token_f1"))
    overlap |= {"broken": [], "fixed": accuracy["broken"]}
    found = compared(museum)
    assert (found["broken"]["n"], found["fixed"]["n"]) == (len(accuracy["broken"]), 0)
    assert {metric for _, metric in found["broken"]["cases"]} == {"accuracy"}


def test_each_case_has_the_cause_that_the_comparison_counts(museum: Results) -> None:
    accuracy = museum["comparison"]["comparisons"][0]
    found = paired_of(museum)
    assert found is not None
    assert [found.causes[nodeid] for nodeid in accuracy["broken"]] == ["generation"] * accuracy["causes"]["generation"]
    museum["plan"]["metrics"]["accuracy"]["of"] = "retrieval"
    found = paired_of(museum)
    assert found is not None
    assert {found.causes[nodeid] for nodeid in accuracy["broken"]} == {"retrieval"}


@pytest.mark.parametrize(("value", "wanted"), [(0.9333, "0.9206"), (0.9206, ""), (None, "0.9206")])
def test_a_gate_tells_its_value_over_the_pairs_where_it_is_another(
    museum: Results, value: float | None, wanted: str
) -> None:
    regression = next(gate for gate in museum["gates"] if gate["verdict"])
    museum["gates"] = [regression | {"value": value, "baseline": 0.9286, "delta": -0.008}]
    (row,) = gates_of(museum)
    assert row["now"] == wanted
    page = "".join(html_of(museum))
    assert ("0.9286, now 0.9206, -0.008" in page) == bool(wanted)
    (bare,) = gates_of({"gates": [regression | {"delta": None, "n_pairs": 0}]})
    assert bare["now"] == ""


def test_a_gate_that_may_hide_a_drop_is_not_said_to_have_passed(museum: Results) -> None:
    regression = next(gate for gate in museum["gates"] if gate["verdict"])
    sure, unsure = (cell | {"status": "passed", "verdict": None} for cell in regression["cells"])
    unsure["verdict"] = "inconclusive"
    (row,) = gates_of({"gates": [regression | {"status": "passed", "cells": [sure, unsure]}]})
    assert row["status"] == "inconclusive"
    assert [cell["status"] for cell in row["cells"]] == ["passed", "inconclusive"]
