"""Encode gates for results.json: the keys of `StoredGate` that are fields of `GateResult` are taken from these."""

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
    """Return a gate as results.json has it; without texts its reason only names the kind."""
    result = gate.result
    own = {
        "expr": str(result.gate),
        "nodeid": gate.nodeid,
        "reason": reason_of(result, texts=texts) or None,
        "worst": [{"nodeid": nodeid, "value": value} for nodeid, value in result.worst],
        "cells": [_encode_cell(cell) for cell in result.cells],
        **encode_regression(result.regression),
    }
    return _encode(StoredGate, result, own)


def _encode_cell(cell: GateResult) -> dict[str, Any]:
    shown = cell if cell.status == "skipped" or cell.not_comparable else replace(cell, reason=None)
    return _encode(GateCell, shown, {} if cell.regression is None else encode_regression(cell.regression))


def _encode(shape: Any, result: GateResult, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a shape, from ``own`` or from the result's fields; an empty optional field is left out."""
    fields = {name: getattr(result, name) for name in result.__dataclass_fields__} | {"slice": dict(result.slice or {})}
    wanted = (key for key in shape.__annotations__ if key in own or fields.get(key) or key in shape.__required_keys__)
    return {key: own[key] if key in own else _plain(fields[key]) for key in wanted}


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value
