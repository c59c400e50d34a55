"""Fail gates on a judge whose mean score of a system differs too much from people's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_rageval.analysis.decisions.verdicts import GateResult, MeasuredGate
from pytest_rageval.metrics.judges.people import PEOPLE
from pytest_rageval.model.outcome import Outcome

__all__ = ["fail_biased"]

Bias = tuple[str, float, int]
"""The judge's name, its mean minus people's, and the number of labels."""


def fail_biased(
    gate: GateResult | MeasuredGate, biased: Mapping[str, Bias], outcomes: Sequence[Outcome]
) -> GateResult | MeasuredGate:
    """Fail the gate's cells if the judge is biased for their system; return the gate.

    Args:
        gate: the measured gate, on a metric of the judge.
        biased: system -> the bias of its judge.
        outcomes: the outcomes in the gate's scope.
    """
    if isinstance(gate, GateResult):
        return gate
    systems = {outcome.system for outcome in outcomes}
    only_system = next(iter(systems)) if len(systems) == 1 else ""
    biases = [biased.get((cell.slice or {}).get("system", only_system)) for cell in gate.cells]
    cells = [cell if bias is None else _failed(cell, bias) for cell, bias in zip(gate.cells, biases, strict=True)]
    comparisons = [None if cell.bias else each for cell, each in zip(cells, gate.comparisons, strict=True)]
    return replace(gate, cells=tuple(cells), comparisons=tuple(comparisons))


def _failed(cell: GateResult, bias: Bias) -> GateResult:
    if cell.status == "skipped":
        return cell
    judge, difference, n = bias
    side = "above" if difference > 0 else "below"
    why = f"biased judge, gate {PEOPLE}{judge} instead"
    reason = f"{why}: its mean is {abs(difference):.2f} {side} people's on {n} labels"
    return replace(cell, status="failed", reason=reason, bias=why)
