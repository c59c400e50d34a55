"""Compare the scores of `rageval score` with those of a session."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.report.files.gate_json import encode_gate
from pytest_rageval.report.run.gate_results import NamedGate
from pytest_rageval.scoring.scores import Scores

__all__ = ["same_gates", "same_outcomes"]

LIKE = pytest.approx


def same_outcomes(scores: Scores, results: Any) -> None:
    """Assert that scores have the outcomes of a results.json, numbers to 1e-9."""
    outcomes = {(outcome["case_id"], outcome["system"]): outcome for outcome in results["outcomes"]}
    rows = {(row["case_id"], row["system"]): row for row in scores.rows()}
    assert rows.keys() == outcomes.keys()
    for key, row in rows.items():
        outcome = outcomes[key]
        assert row["status"] == outcome["status"]
        assert row.get("error_type") == outcome["error_type"]
        assert {name[6:]: value for name, value in row.items() if name.startswith("facet.")} == outcome["facets"]
        values = {name: score["value"] for name, score in outcome["scores"].items() if score["value"] is not None}
        reasons = {name: score["reason"] for name, score in outcome["scores"].items() if score["value"] is None}
        assert {name[6:]: value for name, value in row.items() if name.startswith("score.")} == LIKE(values, abs=1e-9)
        assert {name[7:]: value for name, value in row.items() if name.startswith("reason.")} == reasons


def _gate(result: GateResult) -> Any:
    return encode_gate(NamedGate("", result), texts=True)


def _same(one: Any, other: Any, path: str = "") -> None:
    """Assert that two gates are equal, numbers to 1e-9, except for their node ids and scopes."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key in one.keys() - {"nodeid", "scope"}:
            _same(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), path
        for at, (value, expected) in enumerate(zip(one, other, strict=True)):
            _same(value, expected, f"{path}[{at}]")
    elif isinstance(one, float):
        assert one == LIKE(other, abs=1e-9), path
    else:
        assert one == other, path


def same_gates(scores: Scores, results: Any) -> None:
    """Assert that scores have the gates of a results.json, numbers to 1e-9."""
    gates = {str(gate.gate): _gate(gate) for gate in scores.gates}
    expected = {gate["expr"]: gate for gate in results["gates"]}
    assert gates.keys() == expected.keys()
    for name, gate in gates.items():
        _same({**gate, "worst": [each["value"] for each in gate["worst"]]},
              {**expected[name], "worst": [each["value"] for each in expected[name]["worst"]]}, name)  # fmt: skip
