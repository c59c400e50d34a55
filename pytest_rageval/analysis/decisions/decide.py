"""Decide measured gates: baseline gates as one family, then the worst cell of each gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_rageval.analysis.baseline.comparable import MIN_COMPARED
from pytest_rageval.analysis.baseline.regression import Against, Regression, regressions
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
    against: Against | None = None,
    least: float = MIN_COMPARED,
) -> GateResult:
    """Return the result of a single gate; the arguments are those of `measure`."""
    return decide([measure(gate, scope, outcomes, metrics, unasked, against, least)], against)[0]


def decide(gates: Sequence[GateResult | MeasuredGate], against: Against | None) -> list[GateResult]:
    """Return the results of the gates of a session, in the same order.

    Args:
        gates: the measured gates.
        against: what baseline gates compare with; also sets whether all gates, or the cells of each, are one family.
    """
    if against is None or against.per == "session":
        return _decided_together(gates, against)
    return [result for gate in gates for result in _decided_together([gate], against)]


def _decided_together(gates: Sequence[GateResult | MeasuredGate], against: Against | None) -> list[GateResult]:
    measured = [gate.comparisons if isinstance(gate, MeasuredGate) else () for gate in gates]
    family = [comparison for comparisons in measured for comparison in comparisons if comparison is not None]
    results = iter(regressions(family, against.alpha) if against is not None else ())
    by_gate = [[None if each is None else next(results) for each in comparisons] for comparisons in measured]
    return [
        _result(gate, its, against) if isinstance(gate, MeasuredGate) else gate
        for gate, its in zip(gates, by_gate, strict=True)
    ]


def _result(of: MeasuredGate, regressions: Sequence[Regression | None], against: Against | None) -> GateResult:
    """Return the result of a gate from the regression of each of its cells."""
    cells = [
        cell if regression is None or against is None else _decided(cell, regression, against)
        for cell, regression in zip(of.cells, regressions, strict=True)
    ]
    gate = of.gate
    if gate.baseline and against is not None and against.updates:
        return _becomes(gate, of.scope, cells)
    if ANY not in gate.slice.values():
        return cells[0]
    worst = min(cells, key=lambda cell: (_WORSE_FIRST.index(cell.status), *_rank(gate, cell)))
    result = replace(worst, gate=gate, reason=_reason_at(worst, gate), cells=tuple(cells))
    if len(result.small) == len(cells) > 1:
        most = max(map(size_of, cells))
        return replace(result, reason=f"too few in each of {len(cells)} cells: at most n {most} < {gate.min_n}")
    return result


def _becomes(gate: Gate, scope: str, cells: Sequence[GateResult]) -> GateResult:
    """Return the skipped gate of a run that becomes the baseline; its reason names what was not comparable."""
    result = GateResult(gate, scope, "skipped", slice=gate.slice, reason=BECOMES_BASELINE)
    for cell in cells:
        if cell.not_comparable:
            return replace(result, reason=f"{BECOMES_BASELINE}; {_reason_at(cell, gate)}", regression=cell.regression)
    return result


def _reason_at(worst: GateResult, gate: Gate) -> str | None:
    """Return why the worst cell of a gate fails, with its place in front of the cause."""
    if worst.status != "failed" or worst.reason is None:
        return worst.reason
    place = place_text(replace(worst, gate=gate).own_slice)
    what, colon, cause = worst.reason.partition(": ")
    return f"{what} at {place}{colon}{cause}" if place else worst.reason


def _rank(gate: Gate, cell: GateResult) -> tuple[int, float]:
    """Return the sort key of cells of one status, the worst first: by their drop if compared, else by value."""
    regression = cell.regression
    if regression is None or regression.test.delta is None:
        return 1, badness(gate, cell.value)
    return int(regression.verdict in ("not_worse", "not_comparable")), badness(gate, regression.test.delta)


def _decided(cell: GateResult, regression: Regression, against: Against) -> GateResult:
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
