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
    theirs = {(outcome["case_id"], outcome["system"]): outcome for outcome in results["outcomes"]}
    rows = {(row["case_id"], row["system"]): row for row in scores.rows()}
    assert rows.keys() == theirs.keys()
    for key, row in rows.items():
        plain = theirs[key]
        assert row["status"] == plain["status"]
        assert row.get("error_type") == plain["error_type"]
        assert {name[6:]: value for name, value in row.items() if name.startswith("facet.")} == plain["facets"]
        values = {name: score["value"] for name, score in plain["scores"].items() if score["value"] is not None}
        reasons = {name: score["reason"] for name, score in plain["scores"].items() if score["value"] is None}
        assert {name[6:]: value for name, value in row.items() if name.startswith("score.")} == LIKE(values, abs=1e-9)
        assert {name[7:]: value for name, value in row.items() if name.startswith("reason.")} == reasons


def _gate(result: GateResult) -> Any:
    return encode_gate(NamedGate("", result), texts=True)


def _same(one: Any, other: Any, path: str = "") -> None:
    """Assert that two gates are equal, numbers to 1e-9, apart from the node ids that they name."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key in one.keys() - {"nodeid", "scope"}:
            _same(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other), path
        for at, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            _same(mine, theirs, f"{path}[{at}]")
    elif isinstance(one, float):
        assert one == LIKE(other, abs=1e-9), path
    else:
        assert one == other, path


def same_gates(scores: Scores, results: Any) -> None:
    """Assert that scores have the gates of a results.json, numbers to 1e-9."""
    mine = {str(gate.gate): _gate(gate) for gate in scores.gates}
    theirs = {gate["expr"]: gate for gate in results["gates"]}
    assert mine.keys() == theirs.keys()
    for name, gate in mine.items():
        _same({**gate, "worst": [each["value"] for each in gate["worst"]]},
              {**theirs[name], "worst": [each["value"] for each in theirs[name]["worst"]]}, name)  # fmt: skip
