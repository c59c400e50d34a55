"""The values of a gate as every report shows them: what was, what is now, and over how many cases."""

from __future__ import annotations

from typing import NamedTuple

from pytest_rageval.analysis.account.sentences import two_values
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate
from pytest_rageval.report.text.lines import number
from pytest_rageval.report.text.tables import ABSENT

__all__ = ["GateValues", "compared_value", "gate_values", "reason_beyond_values", "values_of"]


class GateValues(NamedTuple):
    """The values as texts: the one that fails has the decimals that tell it from its bound."""

    was: str
    now: str


def gate_values(gate: Gate | None, value: float | None, was: float | None) -> GateValues:
    """Return the values of a gate as texts.

    Args:
        gate: the gate; None if it is malformed, and its bound is unknown.
        value: the value that decides.
        was: the baseline's mean over the same cases; None without a comparison.
    """
    if gate is None:
        return GateValues(_two(was), _two(value))
    bound = was if gate.baseline else gate.bound
    if gate.metric in PSEUDO_METRICS and gate.metric != "error_rate":
        return GateValues(number(was), number(value))
    if value is None or bound is None:
        return GateValues(_two(was), _two(value))
    now, limit = two_values(value, bound)
    return GateValues(limit if gate.baseline else _two(was), now)


def values_of(result: GateResult) -> tuple[GateValues, int]:
    """Return the values of a gate and the number of cases behind them; of a baseline gate those that both runs have."""
    found = None if result.regression is None else result.regression.test
    was = None if found is None else found.baseline
    if found is not None and (now := compared_value(result.value, was, found.delta)) is not None:
        return gate_values(result.gate, now, was), found.n_pairs
    return gate_values(result.gate, result.value, was), result.n


def compared_value(value: float | None, was: float | None, delta: float | None) -> float | None:
    """Return the value over the cases that both runs have; None if it is the gate's value, or nothing is compared."""
    if was is None or delta is None or number(was + delta) == number(value):
        return None
    return was + delta


def reason_beyond_values(reason: str, gate: Gate | None, place: str) -> str:
    """Return the reason of a gate that did not pass, without the values that stand beside it: then only the place."""
    if gate is not None and reason.startswith((f"{gate.metric} is ", f"{gate.metric} changed by ")):
        return f"at {place}" if place else ""
    return reason


def _two(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}"
