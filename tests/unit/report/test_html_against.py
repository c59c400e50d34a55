"""What the page tells of a baseline: of old results too, by the primary metrics, and of gates over the pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_rageval.report.html.against import comparison_of
from pytest_rageval.report.results_json import schema

Results = dict[str, Any]
OTHERS = "data or settings have changed since"


@pytest.fixture
def museum(fixtures_dir: Path) -> Results:
    loaded: Results = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    return loaded


def compared(results: Results) -> dict[str, Any]:
    found = comparison_of(results)
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
