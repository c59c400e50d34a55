"""The values of a gate as every report shows them: baseline, current, number of cases."""

from __future__ import annotations

from typing import NamedTuple

from pytest_rageval.analysis.account.sentences import two_values
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate
from pytest_rageval.report.text.lines import number
from pytest_rageval.report.text.tables import ABSENT

__all__ = ["GateValues", "compared_value", "gate_values", "reason_without_values", "values_of_result"]


class GateValues(NamedTuple):
    """The values of a gate as texts.

    A value that fails has enough decimals to differ from its bound: ``0.496`` for a bound of 0.50.

    Attributes:
        was: the baseline's mean, or a dash.
        now: the current value, or a dash.
    """

    was: str
    now: str


def gate_values(gate: Gate | None, value: float | None, was: float | None) -> GateValues:
    """Return the values of a gate as texts.

    Args:
        gate: the gate; None if it is malformed, and its bound is unknown.
        value: the value that decides the gate; None if it has none.
        was: the baseline's mean over the same cases; None without a comparison.
    """
    if gate is None:
        return GateValues(_two_decimals(was), _two_decimals(value))
    bound = was if gate.baseline else gate.bound
    if gate.metric in PSEUDO_METRICS and gate.metric != "error_rate":
        return GateValues(number(was), number(value))
    if value is None or bound is None:
        return GateValues(_two_decimals(was), _two_decimals(value))
    now, limit = two_values(value, bound)
    return GateValues(limit if gate.baseline else _two_decimals(was), now)


def values_of_result(result: GateResult) -> tuple[GateValues, int]:
    """Return the values of a gate and the number of cases behind them.

    A baseline gate counts only the cases that both runs have.
    """
    paired = None if result.regression is None else result.regression.test
    was = None if paired is None else paired.baseline
    if paired is not None and (now := compared_value(result.value, was, paired.delta)) is not None:
        return gate_values(result.gate, now, was), paired.n_pairs
    return gate_values(result.gate, result.value, was), result.n


def compared_value(value: float | None, was: float | None, delta: float | None) -> float | None:
    """Return the value over the cases that both runs have.

    Args:
        value: the value over all cases of the gate.
        was: the baseline's mean over the cases that both runs have; None without a comparison.
        delta: the change of that mean; None without a comparison.

    Returns:
        None if it equals ``value`` to four digits, or without a comparison.
    """
    if was is None or delta is None or number(was + delta) == number(value):
        return None
    return was + delta


def reason_without_values(reason: str, gate: Gate | None, place: str) -> str:
    """Return the reason why a gate did not pass, for a row that already shows the values.

    A reason that only repeats the values becomes the place: ``at topic=A``, or "" without a place.
    """
    if gate is not None and reason.startswith((f"{gate.metric} is ", f"{gate.metric} changed by ")):
        return f"at {place}" if place else ""
    return reason


def _two_decimals(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}"
