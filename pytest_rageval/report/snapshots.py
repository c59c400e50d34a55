"""A run as others are compared with it."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rageval.analysis.measured import MeasuredTestbed, Snapshot, measured_of
from pytest_rageval.analysis.pairing import pair_up
from pytest_rageval.analysis.regression import Against
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.plan import Plan

__all__ = ["against", "snapshot_of_outcomes"]


def snapshot_of_outcomes(plan: Plan, outcomes: Iterable[Outcome], apart: set[str], started: str) -> Snapshot:
    """Return what a run measured.

    Args:
        plan: the run's.
        outcomes: its outcomes.
        apart: testbeds that tell of judges alone, and are no part of it.
        started: when it began, in ISO 8601.
    """
    return Snapshot(
        run="",
        started=started,
        fingerprint=plan.fingerprint,
        versions={},
        metrics=plan.metrics,
        testbeds={
            nodeid: MeasuredTestbed(testbed.name, testbed.metrics, testbed.cluster)
            for nodeid, testbed in plan.testbeds.items()
            if nodeid not in apart
        },
        cases=measured_of(outcome for outcome in outcomes if outcome.testbed not in apart),
    )


def against(baseline: Snapshot, now: Snapshot, plan: Plan) -> Against:
    """Return what a run's gates compare with."""
    pairs = pair_up(baseline.cases, now.cases).pairs
    return Against({node: pair for pair in pairs for node in pair.after.nodes}, plan.alpha, plan.inconclusive)
