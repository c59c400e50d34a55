"""The gates of a run, as rows of the page's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.model.facets import place_text
from pytest_rageval.report.html.comparison import delta_text, p_shown
from pytest_rageval.report.html.gate_bars import bar_of
from pytest_rageval.report.html.gate_trends import trend_of
from pytest_rageval.report.text.lines import counted, in_units, interval, number

__all__ = ["gates_of", "in_order", "is_not_comparable", "is_undecided"]

_ORDER = {"failed": 0, "undecided": 1, "skipped": 2, "passed": 3}


def in_order(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the gates: failed ones first, then inconclusive, skipped and passed ones."""
    return sorted(results["gates"], key=lambda gate: _ORDER["undecided" if is_undecided(gate) else gate["status"]])


def is_undecided(gate: Mapping[str, Any]) -> bool:
    """Return `GateResult.undecided` for a gate or cell of results.json: whether it holds but may hide a drop."""
    cells = gate.get("cells") or [gate]
    return gate["status"] == "passed" and any(cell.get("verdict") == "inconclusive" for cell in cells)


def is_not_comparable(gate: Mapping[str, Any]) -> bool:
    """Return whether a gate fails because the baseline has too few cases to compare with."""
    return gate["status"] == "failed" and gate.get("verdict") == "not_comparable"


def gates_of(results: Mapping[str, Any], earlier: Mapping[str, Sequence[float]] | None = None) -> list[dict[str, Any]]:
    """Return the gates as texts, in display order; ``earlier`` has their values in earlier runs by node id."""
    return [_gate(gate, (earlier or {}).get(gate.get("nodeid", ""), ())) for gate in in_order(results)]


def _gate(gate: Mapping[str, Any], earlier: Sequence[float]) -> dict[str, Any]:
    where = place_text(gate["slice"])
    n = f"{gate['n']:,}" + (f" of {counted(gate['n_cases'], 'case')}" if "n_cases" in gate else "")
    n += in_units(gate.get("n_units"), gate.get("unit", ""))
    return {
        "expr": gate["expr"],
        "bar": bar_of(gate),
        "trend": trend_of(gate, earlier),
        "scope": gate["scope"],
        "status": _state(gate),
        "value": number(gate["value"]),
        "interval": interval(gate["ci95"]),
        "n": n,
        "errors": gate["n_errors"],
        "where": f"worst at {where}" if gate["status"] == "passed" and gate["cells"] and where else "",
        "cells": [_cell(cell) for cell in gate["cells"]],
        "baseline": "" if gate["baseline"] is None else number(gate["baseline"]),
        "now": _now(gate),
        "delta": delta_text(gate.get("delta"), gate.get("delta_ci95")) if gate.get("n_pairs") else "",
        "n_pairs": gate.get("n_pairs"),
        "p_value": "" if gate["p_value"] is None else p_shown(gate["p_value"]),
        "least_drop": "" if gate.get("least_drop") is None else number(gate["least_drop"]),
        "verdict": (gate["verdict"] or "").replace("_", " "),
        "reason": gate["reason"] or "",
        "worst": [(each["nodeid"], number(each["value"])) for each in gate["worst"]],
    }


def _state(gate: Mapping[str, Any]) -> str:
    return "inconclusive" if is_undecided(gate) else str(gate["status"])


def _now(gate: Mapping[str, Any]) -> str:
    """Return the value over the pairs with the baseline, "" if it equals the gate's value."""
    if not gate.get("n_pairs") or gate["delta"] is None:
        return ""
    now = number(gate["baseline"] + gate["delta"])
    return "" if now == number(gate["value"]) else now


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "where": place_text(cell["slice"]),
        "status": _state(cell),
        "value": number(cell["value"]),
        "interval": interval(cell["ci95"]),
        "n": cell["n"],
        "reason": cell.get("reason", ""),
    }
