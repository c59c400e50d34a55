"""Convert gates to rows of the page's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.gates import Gate, parse_gate
from pytest_rageval.errors import GateSyntaxError
from pytest_rageval.model.facets import ANY, place_text
from pytest_rageval.report.html.comparison_rows import delta_text, p_value_text
from pytest_rageval.report.html.gate_bars import bar_of
from pytest_rageval.report.html.gate_trends import trend_of
from pytest_rageval.report.run.gate_values import compared_value, gate_values, reason_without_values
from pytest_rageval.report.sections.gates import unscored_text
from pytest_rageval.report.text.lines import counted, in_units, interval, number
from pytest_rageval.report.text.tables import ABSENT

__all__ = ["gates_in_order", "gates_of", "is_inconclusive", "is_not_comparable"]

_ORDER = {"failed": 0, "inconclusive": 1, "skipped": 2, "passed": 3}


def gates_in_order(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the gates sorted by state: failed, inconclusive, skipped, passed."""
    return sorted(results["gates"], key=lambda gate: _ORDER[_state(gate)])


def is_inconclusive(gate: Mapping[str, Any]) -> bool:
    """Return whether a gate or cell of results.json holds but may hide a drop, like `GateResult.undecided`."""
    cells = gate.get("cells") or [gate]
    return gate["status"] == "passed" and any(cell.get("verdict") == "inconclusive" for cell in cells)


def is_not_comparable(gate: Mapping[str, Any]) -> bool:
    """Return whether a gate fails because the baseline has too few cases to compare with."""
    return gate["status"] == "failed" and gate.get("verdict") == "not_comparable"


def gates_of(results: Mapping[str, Any], earlier: Mapping[str, Sequence[float]] | None = None) -> list[dict[str, Any]]:
    """Return the row of each gate, in display order.

    Args:
        results: the content of results.json.
        earlier: node id of a gate -> its values in earlier runs, oldest first.
    """
    return [_gate_row(gate, (earlier or {}).get(gate.get("nodeid", ""), ())) for gate in gates_in_order(results)]


def _gate_row(gate: Mapping[str, Any], earlier: Sequence[float]) -> dict[str, Any]:
    parsed = _parse(gate["expr"])
    where, unscored = place_text(gate["slice"]), gate.get("unscored")
    now = compared_value(gate["value"], gate["baseline"], gate.get("delta")) if gate.get("n_pairs") else None
    texts = gate_values(parsed, gate["value"] if now is None else now, gate["baseline"])
    fixed_facets = {} if parsed is None else parsed.slice
    free_facets = {name: each for name, each in gate["slice"].items() if fixed_facets.get(name, ANY) == ANY}
    n = f"{gate['n']:,}" + (f" of {counted(gate['n_cases'], 'case')}" if "n_cases" in gate else "")
    n += in_units(gate.get("n_units"), gate.get("unit", ""))
    return {
        "expr": gate["expr"],
        "bar": bar_of(gate),
        "trend": trend_of(gate, earlier),
        "scope": gate["scope"],
        "status": _state(gate),
        "value": _value(gate["value"]),
        "interval": interval(gate["ci95"]),
        "n": n,
        "errors": gate["n_errors"],
        "unscored": unscored_text(unscored) if unscored and "unscored" not in (gate["reason"] or "") else "",
        "where": f"worst at {where}" if gate["status"] == "passed" and gate["cells"] and where else "",
        "cells": [_cell_row(cell) for cell in gate["cells"]],
        "was": "" if gate["baseline"] is None else texts.was,
        "now": texts.now,
        "n_now": n if now is None else f"{gate['n_pairs']:,}",
        "is_part": now is not None,
        "delta": delta_text(gate.get("delta"), gate.get("delta_ci95")) if gate.get("n_pairs") else "",
        "n_pairs": gate.get("n_pairs"),
        "p_value": "" if gate["p_value"] is None else p_value_text(gate["p_value"]),
        "least_drop": "" if gate.get("least_drop") is None else number(gate["least_drop"]),
        "verdict": (gate["verdict"] or "").replace("_", " "),
        "reason": reason_without_values(gate["reason"] or "", parsed, place_text(free_facets)),
        "worst": [(each["nodeid"], _value(each["value"])) for each in gate["worst"]],
    }


def _parse(expression: str) -> Gate | None:
    """Parse a gate; None if it is malformed because another program wrote it. The page then shows its text."""
    try:
        return parse_gate(expression)
    except GateSyntaxError:
        return None


def _state(gate: Mapping[str, Any]) -> str:
    return "inconclusive" if is_inconclusive(gate) else str(gate["status"])


def _value(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}"


def _cell_row(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "where": place_text(cell["slice"]),
        "status": _state(cell),
        "value": _value(cell["value"]),
        "interval": interval(cell["ci95"]),
        "n": cell["n"],
        "reason": cell.get("reason", ""),
    }
