"""A run as others are compared with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytest_rageval.analysis.comparable import Held, held_cases
from pytest_rageval.analysis.measured import MeasuredTestbed, Snapshot, measured_of
from pytest_rageval.analysis.pairing import pair_up
from pytest_rageval.analysis.regression import Against
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan

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
        passages=plan.passages,
    )


def against(
    baseline: Snapshot, now: Snapshot, plan: Plan, deselected: Collection[int], skipped: Iterable[Outcome]
) -> Against:
    """Return what a run's gates compare with.

    Args:
        baseline: the baseline, as far as the run could have its testbeds.
        now: the run.
        plan: what was to be run.
        deselected: the cases that the session left out, as places in ``baseline``.
        skipped: the outcomes of cases whose tests were skipped.
    """
    pairing = pair_up(baseline.cases, now.cases)
    names = {nodeid: testbed.name for nodeid, testbed in now.testbeds.items()}
    held = None
    if plan.min_compared is not None:
        cases = held_cases(baseline.cases, pairing, now.cases, deselected, skipped)
        held = Held(cases, names, plan.min_compared)
    pairs = {node: pair for pair in pairing.pairs for node in pair.after.nodes}
    return Against(pairs, plan.alpha, plan.inconclusive, plan.alpha_per, held, plan.updates, plan.metrics)
