"""The page's verdict: it says that all holds only where every gate was judged, and none of them may hide a drop."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_rageval.report.html.headline import verdict_of

HOLDS: dict[str, Any] = {"status": "passed", "verdict": None, "cells": []}
UNSURE = {**HOLDS, "verdict": "inconclusive"}
UNSURE_CELL = {**HOLDS, "verdict": "not_worse", "cells": [{"status": "passed"}, {"verdict": "inconclusive"}]}
SKIPPED = {**HOLDS, "status": "skipped"}
MISSED = {**UNSURE, "status": "failed"}


@pytest.mark.parametrize(
    ("gates", "kind", "text"),
    [
        ([HOLDS], "passed", "The gate holds"),
        ([HOLDS, HOLDS], "passed", "All gates hold"),
        ([HOLDS, UNSURE], "open", "No gate failed, 1 inconclusive of 2"),
        ([HOLDS, UNSURE_CELL, SKIPPED], "open", "No gate failed, 1 inconclusive, 1 skipped of 3"),
        ([HOLDS, MISSED], "failed", "1 of 2 gates failed"),
        ([SKIPPED], "open", "No gate was judged"),
        ([], "open", "No gate decides this run"),
    ],
)
def test_the_verdict_is_of_all_gates(gates: list[dict[str, Any]], kind: str, text: str) -> None:
    run = {"interrupted": False, "failed": []}
    told = verdict_of({"run": run, "gates": gates, "plan": {"unfinished": {}}, "outcomes": [{}]}, errors=0)
    assert (told.kind, told.text) == (kind, text)
