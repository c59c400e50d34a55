"""Compute gates, matrices and means over the rows of all chunks, as a session does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.analysis.cells import Cell, cell_of
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.matrix import Matrix, facet_values
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.gate_results import NamedGate, evaluate
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.snapshots import baseline_for_gates, snapshot_of_outcomes
from pytest_rageval.report.run.summary_data import MatrixChoice, matrices, outcomes_by_testbed
from pytest_rageval.scoring.job import Job, ScoredTestbed
from pytest_rageval.scoring.rows import OutcomeDecoder, unpack

__all__ = ["Figures", "GroupMean", "clusters_of", "figures_of", "means_of", "outcomes_of", "plan_of", "unrecorded"]


@dataclass(frozen=True, slots=True)
class GroupMean:
    """A metric over the cases of one testbed, system and value of a facet.

    Attributes:
        testbed: the testbed's node id.
        system: the system.
        metric: the metric.
        facet: the facet; "" for all cases.
        value: its value; "" for all cases.
        cell: the mean with its counts and interval.
    """

    testbed: str
    system: str
    metric: str
    facet: str
    value: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures over all rows.

    Attributes:
        plan: the testbeds, as reports have them.
        counts: status -> number of outcomes.
        errors: kind of error -> number of outcomes.
        gates: the results of the gates.
        matrices: the chosen matrices.
        means: each metric over all cases, and over each value of the chosen facets.
    """

    plan: Plan
    counts: Mapping[str, int]
    errors: Mapping[str, int]
    gates: Sequence[NamedGate]
    matrices: Sequence[Matrix]
    means: Sequence[GroupMean]


def clusters_of(job: Job) -> dict[str, str]:
    """Return testbed's node id -> the facet whose value its dependent cases share."""
    return {testbed.nodeid: testbed.cluster for testbed in job.testbeds}


def plan_of(testbeds: Iterable[ScoredTestbed], outcomes: Sequence[Outcome]) -> Plan:
    """Return the plan of a session with these testbeds."""
    sizes = Counter(outcome.testbed for outcome in outcomes)
    plan = Plan()
    for each in testbeds:
        gates = tuple(dict.fromkeys(str(parse_gate(text)) for text in each.settings.gates))
        plan.testbeds[each.nodeid] = TestbedPlan(
            each.nodeid, each.name, each.metrics, gates, sizes[each.nodeid], cluster=each.cluster
        )
        for metric in each.computed:
            judge = "" if metric.judge_asked is None else metric.judge_asked.name
            plan.metrics[metric.name] = MetricInfo(
                metric.binary, metric.higher_is_better, metric.of, metric.downstream, judge
            )
    return plan


def outcomes_of(parts: Iterable[bytes], clusters: Mapping[str, str], *, details: bool) -> list[Outcome]:
    """Return the outcomes of packed rows, in the order of the parts."""
    outcomes = OutcomeDecoder(clusters, details=details)
    return [outcomes.decode_line(line) for part in parts for line in unpack(part)]


def unrecorded(testbeds: Iterable[ScoredTestbed], outcomes: Sequence[Outcome], miss: str) -> Iterator[str]:
    """Yield a warning that counts, for each judged metric, the scores that lack a recorded verdict.

    ``miss`` is the message about the first missing recording; the warning ends with it.
    """
    judged = {metric.name for testbed in testbeds for metric in testbed.computed if metric.judge is not None}
    if not judged:
        return
    reasons = ((name, score.reason) for outcome in outcomes for name, score in outcome.scores.items())
    missing = Counter(name for name, reason in reasons if name in judged and reason == "judge_unavailable")
    if missing:
        counts = ", ".join(f"{n:,} of {name}" for name, n in sorted(missing.items()))
        yield f"verdicts are not recorded, so scores are missing (judge_unavailable): {counts}\n{miss}".rstrip()


def figures_of(
    plan: Plan,
    outcomes: Sequence[Outcome],
    baseline: Snapshot | None = None,
    facets: Sequence[str] = (),
    choice: MatrixChoice | None = None,
) -> Figures:
    """Return the figures over outcomes.

    Args:
        plan: the testbeds with their gates.
        outcomes: the outcomes; with a baseline, with their details.
        baseline: the baseline of the gates.
        facets: the facets to compute means for, value by value.
        choice: the matrix; None for none.
    """
    comparison = None
    if baseline is not None:
        now = snapshot_of_outcomes(plan, outcomes, set(), "")
        comparison = baseline_for_gates(baseline, now, plan, (), ())
    return Figures(
        plan=plan,
        counts=dict(sorted(Counter(outcome.status for outcome in outcomes).items())),
        errors=dict(sorted(Counter(o.error_type or "" for o in outcomes if o.status == "error").items())),
        gates=evaluate(plan, outcomes, Counter(), comparison, interrupted=False),
        matrices=[] if choice is None else matrices(plan, outcomes, choice),
        means=list(means_of(plan, outcomes, facets)),
    )


def means_of(plan: Plan, outcomes: Sequence[Outcome], facets: Sequence[str]) -> Iterator[GroupMean]:
    """Yield each metric over all cases of each testbed and system, and over each value of the facets."""
    by_testbed = outcomes_by_testbed(outcomes)
    for nodeid, testbed in plan.testbeds.items():
        outcomes_of_testbed = by_testbed.get(nodeid, [])
        for system in sorted({outcome.system for outcome in outcomes_of_testbed}):
            cases = [outcome for outcome in outcomes_of_testbed if outcome.system == system]
            for facet, value, group in _slices(cases, facets):
                for metric in testbed.metrics:
                    cell = cell_of(metric, plan.metrics[metric].binary, group)
                    yield GroupMean(nodeid, system, metric, facet, value, cell)


def _slices(cases: list[Outcome], facets: Sequence[str]) -> Iterator[tuple[str, str, list[Outcome]]]:
    yield "", "", cases
    for facet in facets:
        for value in facet_values(facet, cases):
            yield facet, value, [outcome for outcome in cases if outcome.facets.get(facet) == value]
