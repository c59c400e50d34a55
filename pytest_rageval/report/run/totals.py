"""Each metric over all cases of a testbed under one system: what a run is worth in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.clusters import over_units
from pytest_rageval.analysis.measured import Measured, Snapshot
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.statistics import Interval, mean_of
from pytest_rageval.analysis.units import links_of, units_of
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run import summary_data
from pytest_rageval.report.run.plan import Plan

__all__ = ["Total", "totals_of", "totals_of_baseline"]


@dataclass(frozen=True, slots=True)
class Total:
    """One metric over a testbed's cases under one system.

    Attributes:
        testbed: the testbed's node id.
        system: the system's name.
        metric: the metric.
        value: its mean; None when nothing was scored.
        n: how many outcomes were scored, each repeat counted.
        n_errors: how many ended in an error.
        ci95: the mean's 95 % interval, where there is one.
    """

    testbed: str
    system: str
    metric: str
    value: float | None
    n: int
    n_errors: int
    ci95: Interval | None


def totals_of(plan: Plan, outcomes: Sequence[Outcome]) -> list[Total]:
    """Return the totals of each testbed, system and metric that the testbed is scored by, in the plan's order."""
    found, totals = summary_data.groups(outcomes), []
    for nodeid, testbed in plan.testbeds.items():
        mine = [outcome for outcome in found.get(nodeid, ()) if outcome.status != "skipped"]
        for system in sorted({outcome.system for outcome in mine}):
            group = [outcome for outcome in mine if outcome.system == system]
            n_errors = sum(outcome.status == "error" for outcome in group)
            for metric in testbed.metrics:
                cell = cell_of(metric, plan.metrics.get(metric, MetricInfo()).binary, group)
                totals.append(Total(nodeid, system, metric, cell.mean, cell.n, n_errors, cell.ci95))
    return totals


def totals_of_baseline(baseline: Snapshot) -> list[Total]:
    """Return the totals of a committed baseline, whose cases have the means of their repeats."""
    groups: dict[tuple[str, str], list[Measured]] = {}
    for case in baseline.cases:
        groups.setdefault((case.testbed, case.system), []).append(case)
    totals = []
    for (testbed, system), cases in groups.items():
        n_errors = sum(case.failed for case in cases)
        for metric in baseline.testbeds[testbed].metrics:
            mine = [case for case in cases if metric in case.scores]
            told = [case.scores[metric] for case in mine]
            units = units_of([links_of(each.case, each.system, each.facets, each.cluster) for each in mine])
            steady = all(value in (0.0, 1.0) for value in told)
            binary = baseline.metrics.get(metric, MetricInfo()).binary and steady
            mean = over_units(mean_of(told, binary=binary), units, told, binary=binary, low=0.0)
            totals.append(Total(testbed, system, metric, mean.value, mean.n, n_errors, mean.ci95))
    return totals
