"""Decide measured gates: baseline gates as one family, then the worst cell of each gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_rageval.analysis.baseline.comparable import MIN_COMPARED
from pytest_rageval.analysis.baseline.regression import GateBaseline, Regression, regressions
from pytest_rageval.analysis.decisions.verdicts import BECOMES_BASELINE, GateResult, MeasuredGate, measure, size_of
from pytest_rageval.analysis.decisions.worst_cases import WORST, badness
from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.facets import ANY, place_text
from pytest_rageval.model.outcome import Outcome

__all__ = ["decide", "evaluate"]

_WORSE_FIRST = ("failed", "passed", "skipped")


def evaluate(
    gate: Gate,
    scope: str,
    outcomes: Sequence[Outcome],
    metrics: Mapping[str, MetricInfo],
    unasked: int = 0,
    against: GateBaseline | None = None,
    least: float = MIN_COMPARED,
) -> GateResult:
    """Return the result of a single gate; the arguments are those of `measure`."""
    return decide([measure(gate, scope, outcomes, metrics, unasked, against, least)], against)[0]


def decide(gates: Sequence[GateResult | MeasuredGate], against: GateBaseline | None) -> list[GateResult]:
    """Return the results of the gates of a session, in the same order.

    Args:
        gates: the measured gates.
        against: the baseline and how to compare with it; ``against.per`` sets whether all gates form one family, or the
            cells of each gate do.
    """
    if against is None or against.per == "session":
        return _decided_together(gates, against)
    return [result for gate in gates for result in _decided_together([gate], against)]


def _decided_together(gates: Sequence[GateResult | MeasuredGate], against: GateBaseline | None) -> list[GateResult]:
    """Return the results of gates whose baseline comparisons form one family."""
    comparisons_by_gate = [gate.comparisons if isinstance(gate, MeasuredGate) else () for gate in gates]
    family = [each for comparisons in comparisons_by_gate for each in comparisons if each is not None]
    results = iter(regressions(family, against.alpha) if against is not None else ())
    regressions_by_gate = [
        [None if each is None else next(results) for each in comparisons] for comparisons in comparisons_by_gate
    ]
    return [
        _result(gate, of_cells, against) if isinstance(gate, MeasuredGate) else gate
        for gate, of_cells in zip(gates, regressions_by_gate, strict=True)
    ]


def _result(
    measured: MeasuredGate, regressions: Sequence[Regression | None], against: GateBaseline | None
) -> GateResult:
    """Return the result of a gate from the regression of each of its cells."""
    cells = [
        cell if regression is None or against is None else _decided_cell(cell, regression, against)
        for cell, regression in zip(measured.cells, regressions, strict=True)
    ]
    gate = measured.gate
    if gate.baseline and against is not None and against.updates:
        return _becomes_baseline(gate, measured.scope, cells)
    if ANY not in gate.slice.values():
        return cells[0]
    worst = min(cells, key=lambda cell: (_WORSE_FIRST.index(cell.status), *_rank(gate, cell)))
    result = replace(worst, gate=gate, reason=_reason_at(worst, gate), cells=tuple(cells))
    if len(result.small) == len(cells) > 1:
        largest = max(map(size_of, cells))
        return replace(result, reason=f"too few in each of {len(cells)} cells: at most n {largest} < {gate.min_n}")
    return result


def _becomes_baseline(gate: Gate, scope: str, cells: Sequence[GateResult]) -> GateResult:
    """Return a skipped result, because the run becomes the baseline; the reason names a cell that is not comparable."""
    result = GateResult(gate, scope, "skipped", slice=gate.slice, reason=BECOMES_BASELINE)
    for cell in cells:
        if cell.not_comparable:
            return replace(result, reason=f"{BECOMES_BASELINE}; {_reason_at(cell, gate)}", regression=cell.regression)
    return result


def _reason_at(worst: GateResult, gate: Gate) -> str | None:
    """Return why the worst cell of a gate fails; the facets of the cell are inserted before the cause."""
    if worst.status != "failed" or worst.reason is None:
        return worst.reason
    place = place_text(replace(worst, gate=gate).own_slice)
    problem, colon, cause = worst.reason.partition(": ")
    return f"{problem} at {place}{colon}{cause}" if place else worst.reason


def _rank(gate: Gate, cell: GateResult) -> tuple[int, float]:
    """Return the key that sorts cells of the same status, the worst first: by their drop, or by value without one."""
    regression = cell.regression
    if regression is None or regression.test.delta is None:
        return 1, badness(gate, cell.value)
    return int(regression.verdict in ("not_worse", "not_comparable")), badness(gate, regression.test.delta)


def _decided_cell(cell: GateResult, regression: Regression, against: GateBaseline) -> GateResult:
    """Return a cell with its regression; it fails if the drop is worse, or inconclusive and the policy is "fail"."""
    result = replace(cell, regression=regression)
    inconclusive = regression.verdict == "inconclusive"
    if regression.verdict != "worse" and not (inconclusive and against.inconclusive == "fail"):
        return result
    test, gate = regression.test, cell.gate
    if test.delta is None:
        why = f"nothing to compare: none of its {size_of(cell)} cases is in the baseline"
    else:
        p_text = f", one-sided p {regression.p_value:.2g}" if regression.p_value is not None else ""
        why = f"{gate.metric} changed by {test.delta:+.4g} against the baseline{p_text} over {test.n_pairs} cases"
        why += ", not significant" if inconclusive else ""
    worst = tuple((pair.after.name, pair.after.scores[gate.metric]) for pair in regression.broken[:WORST])
    return replace(result, status="failed", reason=why, worst=worst)
