"""Measure gates on outcomes: does each bound hold, on how many cases, what is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pytest_rageval.analysis.baseline.comparable import MIN_COMPARED
from pytest_rageval.analysis.baseline.regression import BaselineComparison, GateBaseline, Regression, not_comparable
from pytest_rageval.analysis.baseline.stale_labels import stale_text
from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.corrected_cases import LabelsUsed
from pytest_rageval.analysis.decisions.unscored_reasons import (
    TOO_FEW_LABELS,
    n_lost,
    nothing_scored,
    reasons_of,
    too_few_labels,
    too_few_scored,
    unasked_of,
    unscored_of,
    why_knew_undecided,
)
from pytest_rageval.analysis.decisions.worst_cases import Flaws, flaws_of, worst_of
from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.matrix import has_facet
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.analysis.usage import LATENCY, all_replayed, outcomes_with_answer
from pytest_rageval.model.facets import ANY, KNEW, in_slice, parent_facet, place_of, place_text
from pytest_rageval.model.outcome import Outcome

__all__ = [
    "BECOMES_BASELINE",
    "DESELECTED",
    "NOT_DECIDED",
    "GateResult",
    "MeasuredGate",
    "measure",
    "size_of",
]

SESSION = "session"
"""The scope of a gate over all testbeds."""

DESELECTED = "all its cases were deselected"
"""Reason of a gate that is skipped because none of its cases is selected."""

NOT_DECIDED = "not decided: "
"""Prefix of the reason of a gate that is skipped because only a part of its cases is selected."""

REPLAYED = "its answers were replayed, so no time was measured"

BECOMES_BASELINE = "this run is to become the baseline"


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of one gate.

    Attributes:
        gate: the gate.
        scope: name of the testbed, or "session".
        status: "passed", "failed", or "skipped" if all its cases were deselected, none of its answers was timed, or
            each cell has fewer cases than ``min_n``.
        value: the mean (or the pseudo-metric's value) in the deciding cell; None if nothing was scored.
        n: number of scored outcomes behind the value, each repeat of a case counted.
        n_errors: cases of the slice that ended in an error.
        unscored: reason -> number of answers of the slice without a value, the most frequent first; "not_applicable"
            does not count.
        ci95: the value's 95 % interval, for metrics and error_rate.
        slice: the gate's slice; for ``facet=*`` the deciding cell, which is the worst of the judged cells.
        reason: one sentence for a gate that failed or was skipped.
        worst: for a failed gate, up to five case ids with their values, the worst first.
        cells: the results of the cells of a ``facet=*`` gate.
        n_cases: number of cases behind ``n`` if cases were repeated; else None.
        flaws: for a gate that failed over repeated cases, which cases miss in every repeat and which flip.
        regression: for a baseline gate, the result of its comparison (of the deciding cell for ``facet=*``).
        n_units: number of independent units of its cases, if fewer; else None.
        unit: the facet that joins its cases to units; "" if there is none.
        labels: the labels that corrected the value, for ``people:METRIC``.
        bias: the reason if the gate fails because its judge is biased; "" if not.
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
    n_cases: int | None = None
    flaws: Flaws | None = None
    unscored: Mapping[str, int] = field(default_factory=dict)
    regression: Regression | None = None
    n_units: int | None = None
    unit: str = ""
    labels: LabelsUsed | None = None
    bias: str = ""

    @property
    def small(self) -> tuple[GateResult, ...]:
        """The cells of a ``facet=*`` gate that were not judged because they have fewer than ``min_n`` cases."""
        return tuple(cell for cell in self.cells if cell.status == "skipped" and size_of(cell) < self.gate.min_n)

    @property
    def own_slice(self) -> dict[str, str]:
        """The deciding cell: its values of the facets for which the gate has ``*`` or nothing."""
        return {name: value for name, value in (self.slice or {}).items() if self.gate.slice.get(name, ANY) == ANY}

    @property
    def bare_reason(self) -> str:
        """The reason without its cause, which follows a colon and may quote data."""
        reason, cell = self.reason or "", self.own_slice
        if reason.startswith(NOT_DECIDED):
            return reason
        problem, at, _ = reason.partition(f" at {place_text(cell)}" if cell else ": ")
        return problem + at if cell and at and ": " not in problem else reason.partition(": ")[0]

    @property
    def regressed(self) -> bool:
        """Whether this is a failed baseline gate."""
        return self.gate.baseline and self.status == "failed"

    @property
    def not_comparable(self) -> bool:
        """Whether the baseline has too few cases to compare the gate, or its deciding cell."""
        return self.regression is not None and self.regression.verdict == "not_comparable"

    @property
    def undecided(self) -> tuple[GateResult, ...]:
        """The cells of a passed gate (or the gate itself) whose drop is beyond the tolerance and not significant."""
        judged = (self.cells or (self,)) if self.status == "passed" else ()
        return tuple(cell for cell in judged if cell.regression and cell.regression.verdict == "inconclusive")


@dataclass(frozen=True, slots=True)
class MeasuredGate:
    """A gate with measured cells, whose baseline comparisons are decided together with other gates.

    Attributes:
        gate: the gate.
        scope: name of the testbed, or "session".
        cells: its cells; the gate itself if it has no ``facet=*``.
        comparisons: the baseline comparison of each cell; None for a cell that is not compared.
    """

    gate: Gate
    scope: str
    cells: tuple[GateResult, ...]
    comparisons: tuple[BaselineComparison | None, ...]


def measure(
    gate: Gate,
    scope: str,
    outcomes: Sequence[Outcome],
    metrics: Mapping[str, MetricInfo],
    unasked: int = 0,
    against: GateBaseline | None = None,
    least: float = MIN_COMPARED,
) -> GateResult | MeasuredGate:
    """Return the measured cells of ``gate``, or its result if nothing can be measured.

    Args:
        gate: the gate.
        scope: the name of its testbed, or "session".
        outcomes: the outcomes in scope; the gate's own slice is applied here.
        metrics: metric -> its metadata.
        unasked: number of selected cases in scope that never finished; above 0 the gate is skipped, because a part of
            its cases must not decide it.
        against: what a baseline gate compares with; None skips such a gate, because the run becomes the baseline.
        least: smallest share of answers with a value that a gate with a fixed bound needs to hold, out of the answers
            to which its metric applies.
    """
    covered = [outcome for outcome in outcomes if in_slice(outcome.facets, gate.slice)]
    if unasked:
        reason = f"{unasked} of its cases did not run, because the session stopped early"
        return GateResult(gate, scope, "skipped", n=0, slice=gate.slice, reason=reason)
    possible = [outcome for outcome in outcomes if in_slice(outcome.facets, gate.static_slice)]
    if not possible:
        return GateResult(gate, scope, "skipped", slice=gate.slice, reason=DESELECTED)
    if KNEW in gate.slice and (why := why_knew_undecided(gate, possible, len(covered))):
        errors = sum(outcome.status == "error" for outcome in possible)
        return GateResult(gate, scope, "failed", None, 0, errors, slice=gate.slice, reason=why)
    free = [name for name, value in gate.slice.items() if value == ANY]
    if gate.baseline and against is None:
        return GateResult(gate, scope, "skipped", slice=gate.slice, reason=BECOMES_BASELINE)
    fates = against.fates if gate.baseline and against is not None else None
    lost = fates.lost_cells(gate, outcomes, session=scope == SESSION) if fates is not None and free else []
    cell_groups = list(_by_cell(gate, free, covered, lost)) if free else [(gate, covered)]
    cells = [_cell(each, scope, group, metrics, least) for each, group in cell_groups]
    if not gate.baseline or against is None:
        return MeasuredGate(gate, scope, tuple(cells), (None,) * len(cells))
    return _compared(gate, scope, cells, [group for _, group in cell_groups], against, outcomes)


def _compared(
    gate: Gate,
    scope: str,
    cells: Sequence[GateResult],
    groups: Sequence[Sequence[Outcome]],
    against: GateBaseline,
    outcomes: Sequence[Outcome],
) -> MeasuredGate:
    """Return the cells of a baseline gate with their comparisons; a cell that is not comparable fails."""
    compared: list[GateResult] = []
    comparisons: list[BaselineComparison | None] = []
    for cell, group in zip(cells, groups, strict=True):
        judged = cell.status == "passed" or not group
        comparison = against.comparison(gate, group) if judged else None
        why = against.why_not(cell.gate, outcomes, group, of=gate, session=scope == SESSION) if judged else ""
        if comparison is not None and why:
            regression = not_comparable(comparison, against.alpha)
            compared.append(replace(cell, status="failed", reason=why, regression=regression))
            comparisons.append(None)
        else:
            compared.append(cell)
            comparisons.append(comparison)
    return MeasuredGate(gate, scope, tuple(compared), tuple(comparisons))


def _by_cell(
    gate: Gate, free: Sequence[str], covered: Sequence[Outcome], lost: Sequence[Mapping[str, str]]
) -> Iterator[tuple[Gate, list[Outcome]]]:
    """Yield the gate over each cell of its free facets, with the cell's outcomes.

    A cell that only the baseline has, known from the facets of the ``lost`` cases, has no outcomes. Values with the
    same name under different parents are separate cells, as in a matrix; only such cells name their parent.
    """
    groups: dict[tuple[tuple[str, str], ...], list[Outcome]] = {}
    for outcome in covered:
        groups.setdefault(tuple(place_of(outcome.facets, name) for name in free), []).append(outcome)
    n_lost_cases = Counter(tuple(place_of(facets, name) for name in free) for facets in lost)
    for places, n in n_lost_cases.items():
        if n >= gate.min_n:
            groups.setdefault(places, [])
    n_alike = Counter(tuple(value for _, value in places) for places in groups)
    with_parent = {name for name in free if has_facet(parent_facet(name), covered)}
    for places, group in sorted(groups.items()):
        values = {name: value for name, (_, value) in zip(free, places, strict=True)}
        parents = {
            parent_facet(name): value for name, (value, _) in zip(free, places, strict=True) if name in with_parent
        }
        shown_parents = parents if n_alike[tuple(values.values())] > 1 else {}
        yield replace(gate, slice={**shown_parents, **gate.slice, **values}), group


def _cell(
    gate: Gate, scope: str, covered: Sequence[Outcome], metrics: Mapping[str, MetricInfo], least: float
) -> GateResult:
    errors = sum(outcome.status == "error" for outcome in covered)
    unasked = unasked_of(covered)
    binary = metrics.get(gate.metric, MetricInfo()).binary
    cell = cell_of(gate.metric, binary, covered)
    result = GateResult(gate, scope, "passed", cell.mean, cell.n, errors, cell.ci95, gate.slice, n_cases=cell.n_cases)
    unscored = unscored_of(gate.metric, covered)
    result = replace(result, unscored=unscored, n_units=cell.n_units, unit=cell.unit, labels=cell.labels)
    if unasked:
        return replace(result, status="failed", reason=unasked)
    if stale := stale_text(gate.metric, covered):
        return replace(result, status="failed", reason=stale)
    if cell.mean is None and gate.metric in LATENCY and all_replayed(outcomes_with_answer(covered)):
        return replace(result, status="skipped", reason=REPLAYED)
    if size_of(result) < gate.min_n > 1:
        missing = n_lost(gate.metric, covered)
        few = f"too few: n {size_of(result)} < {gate.min_n}"
        if size_of(result) + missing < gate.min_n:
            return replace(result, status="skipped", reason=few)
        why = f"{few}, because {missing} more could not be scored{reasons_of(gate.metric, covered)}"
        return replace(result, status="failed", reason=why)
    if gate.baseline and cell.labels is not None and cell.n:
        return result
    if cell.mean is None and cell.labels is not None and cell.n:
        lost = {TOO_FEW_LABELS: cell.n}
        return replace(result, status="failed", reason=too_few_labels(cell.labels), n=0, unscored=lost)
    if cell.mean is None:
        return replace(result, status="failed", reason=nothing_scored(gate, covered))
    return result if gate.baseline else _bounded(result, cell.mean, covered, least)


def _bounded(result: GateResult, mean: float, covered: Sequence[Outcome], least: float) -> GateResult:
    gate = result.gate
    if gate.holds(mean):
        few = too_few_scored(result.n, result.unscored, least)
        return replace(result, status="failed", reason=few) if few else result
    reason = f"{gate.metric} is {gate.format_missed(mean)}"
    return replace(result, status="failed", reason=reason, worst=worst_of(gate, covered), flaws=flaws_of(gate, covered))


def size_of(result: GateResult) -> int:
    """Return the number of scored cases, all repeats of a case counted once."""
    return result.n if result.n_cases is None else result.n_cases
