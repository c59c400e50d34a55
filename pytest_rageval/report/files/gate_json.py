"""Encode gates for results.json, from the fields of `GateResult` and computed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass, replace
from typing import Any

from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.report.files.comparison_json import encode_regression
from pytest_rageval.report.files.figures_shape import GateCell, StoredGate
from pytest_rageval.report.run.gate_results import NamedGate, reason_of

__all__ = ["encode_gate"]


def encode_gate(gate: NamedGate, *, texts: bool) -> dict[str, Any]:
    """Return a gate in the form of results.json; without texts, its reason only names the kind."""
    result = gate.result
    computed = {
        "expr": str(result.gate),
        "nodeid": gate.nodeid,
        "reason": reason_of(result, texts=texts) or None,
        "worst": [{"nodeid": nodeid, "value": value} for nodeid, value in result.worst],
        "cells": [_encode_cell(cell) for cell in result.cells],
        **encode_regression(result.regression),
    }
    return _encode(StoredGate, result, computed)


def _encode_cell(cell: GateResult) -> dict[str, Any]:
    result = cell if cell.status == "skipped" or cell.not_comparable else replace(cell, reason=None)
    return _encode(GateCell, result, {} if cell.regression is None else encode_regression(cell.regression))


def _encode(shape: Any, result: GateResult, computed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a shape: computed values, or else fields of the result, without empty optional fields."""
    fields = {name: getattr(result, name) for name in result.__dataclass_fields__} | {"slice": dict(result.slice or {})}
    required = shape.__required_keys__
    keys = (key for key in shape.__annotations__ if key in computed or fields.get(key) or key in required)
    return {key: computed[key] if key in computed else _plain(fields[key]) for key in keys}


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value
