"""The measures of a run, in the form that comparisons take."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytest_rageval.analysis.baseline.comparable import Held, held_cases
from pytest_rageval.analysis.baseline.measured import MeasuredTestbed, Snapshot, measured_of
from pytest_rageval.analysis.baseline.pairing import pair_up
from pytest_rageval.analysis.baseline.regression import Against
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan

__all__ = ["against", "snapshot_of_outcomes"]


def snapshot_of_outcomes(plan: Plan, outcomes: Iterable[Outcome], apart: set[str], started: str) -> Snapshot:
    """Return the measures of a run.

    Args:
        plan: the run's plan.
        outcomes: its outcomes.
        apart: testbeds to leave out because they only measure judges.
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
    """Return what the baseline gates of a run compare with.

    Args:
        baseline: the baseline, reduced to testbeds that the run could have.
        now: the run.
        plan: the run's plan.
        deselected: the cases that the session left out, as indexes into ``baseline``.
        skipped: the outcomes of skipped cases.
    """
    pairing = pair_up(baseline.cases, now.cases)
    names = {nodeid: testbed.name for nodeid, testbed in now.testbeds.items()}
    held = None
    if plan.min_compared is not None:
        cases = held_cases(baseline.cases, pairing, now.cases, deselected, skipped)
        held = Held(cases, names, plan.min_compared)
    pairs = {node: pair for pair in pairing.pairs for node in pair.after.nodes}
    return Against(pairs, plan.alpha, plan.inconclusive, plan.alpha_per, held, plan.updates, plan.metrics)
