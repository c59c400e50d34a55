"""Gates against outcomes: does each bound hold, on how many cases, and which are the worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.statistics import Interval, mean_of, quantile
from pytest_rageval.model.facets import ANY, matches
from pytest_rageval.model.outcome import Outcome

__all__ = ["GateResult", "MetricInfo", "evaluate"]

WORST = 5  # cases a failed gate names

USED = {
    "latency_p50": ("latency_s",),
    "latency_p95": ("latency_s",),
    "cost_usd": ("cost_usd",),
    "tokens": ("prompt_tokens", "completion_tokens"),
}
"""The pseudo-metrics of what answers used, and the parts of a usage that make each."""

NOT_ASKED = "not_asked"
"""The error_type of an outcome whose case was left unasked; a gate over it fails."""


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What a gate and a table must know of a metric without having it."""

    binary: bool = False
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class GateResult:
    """What became of one gate.

    Attributes:
        gate: the gate.
        scope: name of the testbed, or "session".
        status: "passed", "failed", or "skipped" when its cases were all deselected.
        value: the mean (or the pseudo-metric's value) in the deciding cell; None when nothing was scored.
        n: scored cases behind the value.
        n_errors: cases of the slice that ended in an error.
        ci95: the value's 95 % interval, for metrics and error_rate.
        slice: the gate's slice; for ``facet=*`` the deciding cell, which is the worst one.
        reason: one sentence for a gate that failed or was skipped.
        worst: up to five case ids with their values, the worst first, of a gate that failed.
        cells: every cell of a ``facet=*`` gate, as results of their own.
    """

    gate: Gate
    scope: str
    status: Literal["passed", "failed", "skipped"]
    value: float | None = None
    n: int = 0
    n_errors: int = 0
    ci95: Interval | None = None
    slice: Mapping[str, str] | None = None
    reason: str | None = None
    worst: tuple[tuple[str, float | None], ...] = ()
    cells: tuple[GateResult, ...] = ()


def evaluate(
    gate: Gate, scope: str, outcomes: Sequence[Outcome], metrics: Mapping[str, MetricInfo], unasked: int = 0
) -> GateResult:
    """Return what becomes of ``gate`` over ``outcomes``, the ones in its scope.

    Args:
        gate: the gate; not a baseline gate.
        scope: the name of its testbed, or "session".
        outcomes: the outcomes in scope; the gate's own slice is applied here.
        metrics: what is known of each metric.
        unasked: cases in scope that were selected and never finished; the gate then is skipped,
            since a part of its cases decides nothing.
    """
    covered = [outcome for outcome in outcomes if matches(outcome.facets, gate.slice)]
    if unasked:
        reason = f"{unasked} of its cases did not run, because the session stopped early"
        return GateResult(gate, scope, "skipped", n=0, slice=gate.slice, reason=reason)
    if not covered:
        return GateResult(gate, scope, "skipped", slice=gate.slice, reason="all its cases were deselected")
    free = [name for name, value in gate.slice.items() if value == ANY]
    if not free:
        return _cell(gate, scope, covered, metrics)
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome in covered:
        groups.setdefault(tuple(outcome.facets[name] for name in free), []).append(outcome)
    cells = [
        _cell(replace(gate, slice={**gate.slice, **dict(zip(free, key, strict=True))}), scope, group, metrics)
        for key, group in sorted(groups.items())
    ]
    worst = min(cells, key=lambda cell: (cell.status != "failed", _badness(gate, cell.value)))
    return replace(worst, gate=gate, cells=tuple(cells))


def _cell(gate: Gate, scope: str, covered: Sequence[Outcome], metrics: Mapping[str, MetricInfo]) -> GateResult:
    errors = sum(outcome.status == "error" for outcome in covered)
    unasked = [outcome for outcome in covered if outcome.error_type == NOT_ASKED]
    value, n, ci95 = _value(gate, covered, metrics)
    result = GateResult(gate, scope, "passed", value, n, errors, ci95, gate.slice)
    if unasked:
        return replace(result, status="failed", reason=f"{len(unasked)} cases were not asked: {unasked[0].error}")
    if value is None:
        return replace(result, status="failed", reason=_nothing(gate, covered))
    if gate.holds(value):
        return result
    return replace(result, status="failed", reason=f"{gate.metric} is {value:.4g}", worst=_worst(gate, covered))


def _value(
    gate: Gate, covered: Sequence[Outcome], metrics: Mapping[str, MetricInfo]
) -> tuple[float | None, int, Interval | None]:
    ended = [outcome for outcome in covered if outcome.status != "skipped"]
    scored = [outcome for outcome in ended if outcome.status == "scored"]
    if gate.metric == "n":
        return (float(len(scored)) if scored else None), len(scored), None
    if gate.metric == "error_rate":
        rate = mean_of([float(outcome.status == "error") for outcome in ended], binary=True)
        return rate.value, rate.n, rate.ci95
    if gate.metric in USED:
        answered = _answered(covered)
        used = [value for _, value in _values(gate.metric, answered)]
        if gate.metric in ("latency_p50", "latency_p95"):
            return quantile(used, 0.5 if gate.metric == "latency_p50" else 0.95), len(used), None
        return (sum(used) if answered and len(used) == len(answered) else None), len(used), None
    values = [value for _, value in _values(gate.metric, scored)]
    info = metrics.get(gate.metric, MetricInfo())
    mean = mean_of(values, binary=info.binary)
    return mean.value, mean.n, mean.ci95


def _values(metric: str, scored: Sequence[Outcome]) -> list[tuple[str, float]]:
    """Return (node id, value) of each outcome that has a value of a metric or of a pseudo-metric of single cases."""
    value_of = partial(_used, USED[metric]) if metric in USED else partial(_score, metric)
    return [(outcome.nodeid, value) for outcome in scored if (value := value_of(outcome)) is not None]


def _score(metric: str, outcome: Outcome) -> float | None:
    score = outcome.scores.get(metric)
    return None if score is None else score.value


def _used(names: Sequence[str], outcome: Outcome) -> float | None:
    """Return the sum of what was used; None when a part of it is unknown."""
    usage = None if outcome.answer is None else outcome.answer.usage
    parts: list[float | None] = [getattr(usage, name, None) for name in names]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _answered(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes that have an answer; it was paid for, whether or not it could be scored."""
    return [outcome for outcome in outcomes if outcome.answer is not None and outcome.status != "skipped"]


def _worst(gate: Gate, covered: Sequence[Outcome]) -> tuple[tuple[str, float | None], ...]:
    if gate.metric == "error_rate":
        return tuple((o.nodeid, None) for o in covered if o.status == "error")[:WORST]
    counted = _answered(covered) if gate.metric in USED else [o for o in covered if o.status == "scored"]
    rows = sorted(_values(gate.metric, counted), key=lambda row: (_badness(gate, row[1]), row[0]))
    return tuple(rows[:WORST])


def _badness(gate: Gate, value: float | None) -> float:
    """Order values worst first: the lowest for a lower bound, the highest for an upper one."""
    if value is None:
        return float("-inf")
    return value if gate.op in (">=", ">") else -value


def _nothing(gate: Gate, covered: Sequence[Outcome]) -> str:
    errors = sum(outcome.status == "error" for outcome in covered)
    answered = _answered(covered)
    if gate.metric in USED and answered:
        unknown = len(answered) - len(_values(gate.metric, answered))
        return f"{gate.metric} is unknown, as {unknown} of {len(answered)} answers do not tell it"
    reasons = sorted({s.reason for o in covered if (s := o.scores.get(gate.metric)) is not None and s.reason})
    why = f" ({'; '.join(reasons[:3])})" if reasons else ""
    return f"nothing was scored: {len(covered)} cases, {errors} errors{why}"
