"""Turn a run into a snapshot: its measures in the form that comparisons need."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from pytest_rageval.analysis.baseline.comparable import CaseFates, case_fates
from pytest_rageval.analysis.baseline.pairing import pair_up
from pytest_rageval.analysis.baseline.regression import GateBaseline
from pytest_rageval.analysis.baseline.snapshot import MeasuredTestbed, Snapshot, measured_of
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan

__all__ = ["baseline_for_gates", "reindex_cases", "select_testbeds", "snapshot_of_outcomes"]

DEFAULT_SYSTEMS = frozenset({"extractive", "llm"})
"""The built-in systems that answer if no fixture and no option names one."""


def snapshot_of_outcomes(plan: Plan, outcomes: Iterable[Outcome], judge_testbeds: set[str], started: str) -> Snapshot:
    """Return the measures of a run.

    Args:
        plan: the run's plan.
        outcomes: its outcomes.
        judge_testbeds: node ids of testbeds to leave out, because they only measure judges.
        started: time of the start, in ISO 8601.
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
            if nodeid not in judge_testbeds
        },
        cases=measured_of(outcome for outcome in outcomes if outcome.testbed not in judge_testbeds),
        passages=plan.passages,
    )


def baseline_for_gates(
    baseline: Snapshot, now: Snapshot, plan: Plan, deselected: Collection[int], skipped: Iterable[Outcome]
) -> GateBaseline:
    """Return the baseline in the form that the gates of a run need.

    Args:
        baseline: the baseline, without testbeds that the command line leaves out.
        now: the measures of the run.
        plan: the run's plan.
        deselected: the cases that the session deselected, as indexes into ``baseline``.
        skipped: the outcomes of skipped cases.
    """
    pairing = pair_up(baseline.cases, now.cases)
    names = {nodeid: testbed.name for nodeid, testbed in now.testbeds.items()}
    fates = None
    if plan.min_compared is not None:
        by_name = _replaces_user_system(plan, baseline)
        cases = case_fates(baseline.cases, pairing, now.cases, deselected, skipped, by_name=by_name)
        fates = CaseFates(cases, names, plan.min_compared)
    pairs = {nodeid: pair for pair in pairing.pairs for nodeid in pair.after.nodes}
    return GateBaseline(pairs, plan.alpha, plan.inconclusive, plan.alpha_per, fates, plan.updates, plan.metrics)


def _replaces_user_system(plan: Plan, baseline: Snapshot) -> bool:
    """Return whether a built-in system answers by default, but the baseline has a system of the user's."""
    return bool(plan.default_system) and not {case.system for case in baseline.cases} <= DEFAULT_SYSTEMS


def select_testbeds(snapshot: Snapshot, nodeids: Collection[str]) -> Snapshot:
    """Return a snapshot with only the testbeds of these node ids."""
    testbeds = {nodeid: testbed for nodeid, testbed in snapshot.testbeds.items() if nodeid in nodeids}
    return replace(snapshot, testbeds=testbeds, cases=tuple(c for c in snapshot.cases if c.testbed in testbeds))


def reindex_cases(cases: Collection[int], whole: Snapshot | None, part: Snapshot | None) -> tuple[int, ...]:
    """Convert indexes of cases in a snapshot into indexes in a part of it; leave out cases that the part lacks."""
    if whole is None or part is None or not cases:
        return ()
    places = {id(case): at for at, case in enumerate(part.cases)}
    chosen = set(cases)
    indexes = (places.get(id(case)) for at, case in enumerate(whole.cases) if at in chosen)
    return tuple(index for index in indexes if index is not None)
