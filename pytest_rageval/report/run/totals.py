"""Totals of a run: each metric over all cases of a testbed under one system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import filterfalse

from pytest_rageval.analysis.baseline.snapshot import Measured, Snapshot
from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.clusters import over_units
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.statistics import Interval, mean_of
from pytest_rageval.analysis.units import links_of, units_of
from pytest_rageval.metrics.judges.people import corrected_metric
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
        metric: name of the metric.
        value: mean of the metric; None if nothing was scored.
        n: number of scored outcomes; each repeat counts.
        n_errors: number of cases that ended in an error.
        ci95: the 95 % interval of the mean, or None.
    """

    testbed: str
    system: str
    metric: str
    value: float | None
    n: int
    n_errors: int
    ci95: Interval | None


def totals_of(plan: Plan, outcomes: Sequence[Outcome]) -> list[Total]:
    """Return the totals of each testbed, system and metric of the testbed, in plan order."""
    by_testbed, totals = summary_data.outcomes_by_testbed(outcomes), []
    for nodeid, testbed in plan.testbeds.items():
        ran = [outcome for outcome in by_testbed.get(nodeid, ()) if outcome.status != "skipped"]
        for system in sorted({outcome.system for outcome in ran}):
            group = [outcome for outcome in ran if outcome.system == system]
            n_errors = sum(outcome.status == "error" for outcome in group)
            for metric in testbed.metrics:
                cell = cell_of(metric, plan.metrics.get(metric, MetricInfo()).binary, group)
                totals.append(Total(nodeid, system, metric, cell.mean, cell.n, n_errors, cell.ci95))
    return totals


def totals_of_baseline(baseline: Snapshot) -> list[Total]:
    """Return the totals of a committed baseline, which stores one mean over the repeats of each case.

    Metrics corrected by labels are left out, because a baseline stores no labels.
    """
    groups: dict[tuple[str, str], list[Measured]] = {}
    for case in baseline.originals:
        groups.setdefault((case.testbed, case.system), []).append(case)
    totals = []
    for (testbed, system), cases in groups.items():
        n_errors = sum(case.failed for case in cases)
        for metric in filterfalse(corrected_metric, baseline.testbeds[testbed].metrics):
            scored = [case for case in cases if metric in case.scores]
            values = [case.scores[metric] for case in scored]
            units = units_of([links_of(each.case, each.system, each.facets, each.cluster) for each in scored])
            has_only_0_and_1 = all(value in (0.0, 1.0) for value in values)  # a mean of repeats may lie between
            binary = baseline.metrics.get(metric, MetricInfo()).binary and has_only_0_and_1
            mean = over_units(mean_of(values, binary=binary), units, values, binary=binary, low=0.0)
            totals.append(Total(testbed, system, metric, mean.value, mean.n, n_errors, mean.ci95))
    return totals
