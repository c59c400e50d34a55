"""The verdict of a run: it passes only if every gate was judged and is conclusive."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_rageval.report.html.headline import conclusion_of
from pytest_rageval.report.run.verdict import verdict_of

NO_FACTS: dict[str, Any] = {
    "gates": {}, "inconclusive": 0, "tests": 0, "errors": 0, "cases": 4, "interrupted": False, "shard": "",
    "exitstatus": 0,
}  # fmt: skip
ALL_PASSED = {"passed": 2}
SOME_SKIPPED = {"passed": 2, "skipped": 3}
SHARD = "shard 1 of 3"


@pytest.mark.parametrize(
    ("facts", "kind", "text"),
    [
        ({"gates": ALL_PASSED}, "passed", "all 2 gates hold"),
        ({"gates": {"passed": 1}}, "passed", "the gate holds"),
        ({}, "passed", "nothing failed, and there is no gate"),
        ({"gates": ALL_PASSED, "inconclusive": 1}, "open", "no gate failed, 1 inconclusive of 2"),
        ({"gates": SOME_SKIPPED, "inconclusive": 1}, "open", "no gate failed, 1 inconclusive, 3 skipped of 5"),
        ({"gates": {"skipped": 3}}, "open", "no gate was judged"),
        ({"gates": {"skipped": 3}, "not_decided": 3}, "open", "3 gates not decided"),
        ({"gates": {"skipped": 3}, "not_decided": 1}, "open", "no gate was judged, 1 gate not decided"),
        ({"gates": SOME_SKIPPED, "not_decided": 3}, "open", "no gate failed, 3 gates not decided"),
        ({"gates": SOME_SKIPPED, "not_decided": 2}, "open", "no gate failed, 1 skipped of 5, 2 gates not decided"),
        (
            {"gates": {"failed": 2, "skipped": 3}, "not_comparable": 1, "not_decided": 3, "tests": 1},
            "failed",
            "2 of 5 gates failed (1 not comparable), and 1 test, 3 gates not decided",
        ),
        ({"cases": 0, "gates": {"skipped": 1}}, "open", "no case was run"),
        ({"gates": {"passed": 1, "failed": 1}}, "failed", "1 of 2 gates failed"),
        ({"gates": {"failed": 1}, "tests": 2, "errors": 1}, "failed", "1 of 1 gate failed, and 2 tests"),
        ({"gates": ALL_PASSED, "tests": 1, "errors": 1}, "failed", "1 test failed, no gate failed"),
        ({"errors": 3}, "failed", "3 cases failed"),
        ({"interrupted": True, "gates": {"skipped": 2}}, "open", "interrupted"),
        ({"interrupted": True, "gates": {"skipped": 2}, "tests": 1}, "failed", "interrupted, 1 test failed until then"),
        ({"gates": ALL_PASSED, "exitstatus": 1}, "failed", "nothing failed, and yet the exit status is 1"),
        ({"gates": ALL_PASSED, "tests": 1, "exitstatus": 1}, "failed", "1 test failed, no gate failed"),
        ({"gates": ALL_PASSED, "exitstatus": 5}, "passed", "all 2 gates hold"),
        ({"shard": SHARD, "exitstatus": 3}, "failed", "nothing failed, and yet the exit status is 3"),
        ({"interrupted": True, "exitstatus": 2}, "open", "interrupted"),
        ({"shard": SHARD}, "open", "shard 1 of 3 ended, rageval merge decides the gates"),
        ({"shard": SHARD, "gates": {"skipped": 2}, "tests": 1}, "failed", "1 test failed"),
    ],
)  # fmt: skip
def test_the_verdict_summarises_gates_tests_and_errors(facts: dict[str, Any], kind: str, text: str) -> None:
    assert verdict_of(**{**NO_FACTS, **facts}) == (kind, text)


def test_a_passed_gate_with_an_inconclusive_cell_counts_as_inconclusive() -> None:
    cells = [{"status": "passed"}, {"status": "passed", "verdict": "inconclusive"}]
    gates = [{"status": "passed", "verdict": verdict, "cells": cells} for verdict in ("not_worse", "worse")]
    gates += [{"status": "passed", "verdict": "inconclusive", "cells": []}]
    verdict = conclusion_of({"run": {"interrupted": False}, "gates": gates, "outcomes": [{}]}, errors=0)
    assert verdict == ("open", "No gate failed, 3 inconclusive of 3")
