"""Gates against outcomes: does each bound hold, on how many cases, and which are the worst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pytest_rageval.analysis.blame import WORST, Flaws, badness, flaws_of, worst_of
from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.matrix import present
from pytest_rageval.analysis.regression import Against, Regression, regressions
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.analysis.unscored import n_lost, nothing_scored, reasons_of, unasked_of, unknowable, unscored_of
from pytest_rageval.analysis.usage import LATENCY, all_replayed, answered
from pytest_rageval.model.facets import ANY, KNEW, above, matches, place_of, place_text
from pytest_rageval.model.outcome import Outcome

__all__ = ["DESELECTED", "GateResult", "MetricInfo", "evaluate"]

DESELECTED = "all its cases were deselected"

REPLAYED = "its answers were replayed, so no time was measured"

BECOMES_BASELINE = "this run is to become the baseline"

_WORSE_FIRST = ("failed", "passed", "skipped")


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What a gate and a table must know of a metric without having it; the attributes are those of `Metric`.

    ``judge`` is the name of the judge whose model it depends on, or "".
    """

    binary: bool = False
    higher_is_better: bool = True
    of: str = "answer"
    downstream: bool = True
    judge: str = ""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What became of one gate.

    Attributes:
        gate: the gate.
        scope: name of the testbed, or "session".
        status: "passed", "failed", or "skipped" when its cases were all deselected, none of its answers timed, or no
            cell has as many cases as it asks for.
        value: the mean (or the pseudo-metric's value) in the deciding cell; None when nothing was scored.
        n: scored outcomes behind the value, each repeat of a case counted.
        n_errors: cases of the slice that ended in an error.
        unscored: why answers of the slice have no value -> how many, the most frequent first; what does not apply to
            a case is none of them.
        ci95: the value's 95 % interval, for metrics and error_rate.
        slice: the gate's slice; for ``facet=*`` the deciding cell, which is the worst one of those that were judged.
        reason: one sentence for a gate that failed or was skipped.
        worst: up to five case ids with their values, the worst first, of a gate that failed.
        cells: every cell of a ``facet=*`` gate, as results of their own.
        n_cases: how many cases ``n`` is of, where cases were repeated; else None.
        flaws: of a gate that failed over repeated cases, which always miss and which flip.
        regression: of a baseline gate, what its pairs say; of ``facet=*`` those of the deciding cell.
        n_units: how many independent units its cases form, if that is fewer; else None.
        unit: the facet that joins its cases to units; "" if nothing does.
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

    @property
    def small(self) -> tuple[GateResult, ...]:
        """The cells of a ``facet=*`` gate that were not judged, as they have fewer cases than the gate asks for."""
        return tuple(cell for cell in self.cells if cell.status == "skipped" and _size(cell) < self.gate.min_n)

    @property
    def own_slice(self) -> dict[str, str]:
        """Which of its cells the gate was decided by, by the facets that it leaves open."""
        return {name: value for name, value in (self.slice or {}).items() if self.gate.slice.get(name, ANY) == ANY}

    @property
    def bare_reason(self) -> str:
        """The reason without its cause, which stands behind a colon and may quote data."""
        reason, own = self.reason or "", self.own_slice
        what, at, _ = reason.partition(f" at {place_text(own)}" if own else ": ")
        return what + at if own and at and ": " not in what else reason.partition(": ")[0]

    @property
    def regressed(self) -> bool:
        """Whether this is a gate on the baseline, and it failed."""
        return self.gate.baseline and self.status == "failed"

    @property
    def undecided(self) -> tuple[GateResult, ...]:
        """Of a gate that holds, the cells (or the gate itself) whose drop so few cases cannot tell from noise."""
        judged = (self.cells or (self,)) if self.status == "passed" else ()
        return tuple(cell for cell in judged if cell.regression and cell.regression.verdict == "inconclusive")


def evaluate(
    gate: Gate,
    scope: str,
    outcomes: Sequence[Outcome],
    metrics: Mapping[str, MetricInfo],
    unasked: int = 0,
    against: Against | None = None,
) -> GateResult:
    """Return what becomes of ``gate`` over ``outcomes``, the ones in its scope.

    Args:
        gate: the gate.
        scope: the name of its testbed, or "session".
        outcomes: the outcomes in scope; the gate's own slice is applied here.
        metrics: what is known of each metric.
        unasked: cases in scope that were selected and never finished; the gate then is skipped,
            since a part of its cases decides nothing.
        against: what a baseline gate compares with; None skips it, as the run is to become the baseline.
    """
    covered = [outcome for outcome in outcomes if matches(outcome.facets, gate.slice)]
    if unasked:
        reason = f"{unasked} of its cases did not run, because the session stopped early"
        return GateResult(gate, scope, "skipped", n=0, slice=gate.slice, reason=reason)
    possible = [outcome for outcome in outcomes if matches(outcome.facets, gate.beforehand)]
    if not possible:
        return GateResult(gate, scope, "skipped", slice=gate.slice, reason=DESELECTED)
    if KNEW in gate.slice and (why := unknowable(gate, possible, len(covered))):
        errors = sum(outcome.status == "error" for outcome in possible)
        return GateResult(gate, scope, "failed", None, 0, errors, slice=gate.slice, reason=why)
    free = [name for name, value in gate.slice.items() if value == ANY]
    if gate.baseline and against is None:
        return GateResult(gate, scope, "skipped", slice=gate.slice, reason=BECOMES_BASELINE)
    parts = list(_apart(gate, free, covered)) if free else [(gate, covered)]
    cells = [_cell(each, scope, group, metrics) for each, group in parts]
    if gate.baseline and against is not None:
        cells = _compared(gate, cells, [group for _, group in parts], against)
    if not free:
        return cells[0]
    worst = min(cells, key=lambda cell: (_WORSE_FIRST.index(cell.status), *_rank(gate, cell)))
    result = replace(worst, gate=gate, reason=_reason_at(worst, gate), cells=tuple(cells))
    if len(result.small) == len(cells) > 1:
        most = max(map(_size, cells))
        return replace(result, reason=f"too few in each of {len(cells)} cells: at most n {most} < {gate.min_n}")
    return result


def _apart(gate: Gate, free: Sequence[str], covered: Sequence[Outcome]) -> Iterator[tuple[Gate, list[Outcome]]]:
    """Yield the gate over each cell of its free facets, with the cell's outcomes.

    Values of one name below two of the facet above are two, as in a matrix; only such cells name what is above.
    """
    groups: dict[tuple[tuple[str, str], ...], list[Outcome]] = {}
    for outcome in covered:
        groups.setdefault(tuple(place_of(outcome.facets, name) for name in free), []).append(outcome)
    alike = Counter(tuple(value for _, value in places) for places in groups)
    grouped = {name for name in free if present(above(name), covered)}
    for places, group in sorted(groups.items()):
        own = {name: value for name, (_, value) in zip(free, places, strict=True)}
        over = {above(name): value for name, (value, _) in zip(free, places, strict=True) if name in grouped}
        names = over if alike[tuple(own.values())] > 1 else {}
        yield replace(gate, slice={**names, **gate.slice, **own}), group


def _reason_at(worst: GateResult, gate: Gate) -> str | None:
    """Return why the worst cell of a gate fails, and which it is, ahead of what caused it."""
    if worst.status != "failed" or worst.reason is None:
        return worst.reason
    what, colon, cause = worst.reason.partition(": ")
    return f"{what} at {place_text(replace(worst, gate=gate).own_slice)}{colon}{cause}"


def _cell(gate: Gate, scope: str, covered: Sequence[Outcome], metrics: Mapping[str, MetricInfo]) -> GateResult:
    errors = sum(outcome.status == "error" for outcome in covered)
    unasked = unasked_of(covered)
    binary = metrics.get(gate.metric, MetricInfo()).binary
    cell = cell_of(gate.metric, binary, covered)
    result = GateResult(gate, scope, "passed", cell.mean, cell.n, errors, cell.ci95, gate.slice, n_cases=cell.n_cases)
    unscored = unscored_of(gate.metric, covered)
    result = replace(result, unscored=unscored, n_units=cell.n_units, unit=cell.unit)
    if unasked:
        return replace(result, status="failed", reason=unasked)
    if cell.mean is None and gate.metric in LATENCY and all_replayed(answered(covered)):
        return replace(result, status="skipped", reason=REPLAYED)
    if _size(result) < gate.min_n > 1:
        missing = n_lost(gate.metric, covered)
        few = f"too few: n {_size(result)} < {gate.min_n}"
        if _size(result) + missing < gate.min_n:
            return replace(result, status="skipped", reason=few)
        why = f"{few}, as {missing} more could not be scored{reasons_of(gate.metric, covered)}"
        return replace(result, status="failed", reason=why)
    if cell.mean is None:
        return replace(result, status="failed", reason=nothing_scored(gate, covered))
    if gate.baseline or gate.holds(cell.mean):
        return result
    reason = f"{gate.metric} is {gate.missed_by(cell.mean)}"
    return replace(result, status="failed", reason=reason, worst=worst_of(gate, covered), flaws=flaws_of(gate, covered))


def _rank(gate: Gate, cell: GateResult) -> tuple[int, float]:
    """Return what sorts cells of one status, the worst first: by their fall where they are compared, else by value."""
    regression = cell.regression
    if regression is None or regression.found.delta is None:
        return 1, badness(gate, cell.value)
    return int(regression.verdict == "not_worse"), badness(gate, regression.found.delta)


def _compared(
    gate: Gate, cells: Sequence[GateResult], groups: Sequence[Sequence[Outcome]], against: Against
) -> list[GateResult]:
    """Return the cells with what they say against the baseline; those that are not judged say nothing."""
    judged = [at for at, cell in enumerate(cells) if cell.status == "passed"]
    told = dict(zip(judged, regressions(gate, [groups[at] for at in judged], against), strict=True))
    return [_decided(cell, told[at], against) if at in told else cell for at, cell in enumerate(cells)]


def _decided(cell: GateResult, told: Regression, against: Against) -> GateResult:
    result = replace(cell, regression=told)
    fails = told.verdict == "worse" or (told.verdict == "inconclusive" and against.inconclusive == "fail")
    if not fails:
        return result
    found, gate = told.found, cell.gate
    if found.delta is None:
        why = f"nothing to compare: none of its {_size(cell)} cases is in the baseline"
    else:
        p_text = f", one-sided p {told.p_value:.2g}" if told.p_value is not None else ""
        why = f"{gate.metric} changed by {found.delta:+.4g} against the baseline{p_text} over {found.n_pairs} cases"
        why += ", too few to tell it from noise" if told.verdict == "inconclusive" else ""
    worst = tuple((pair.after.name, pair.after.scores[gate.metric]) for pair in told.broken[:WORST])
    return replace(result, status="failed", reason=why, worst=worst)


def _size(result: GateResult) -> int:
    """Return how many cases were scored, each counted once however often it was repeated."""
    return result.n if result.n_cases is None else result.n_cases
