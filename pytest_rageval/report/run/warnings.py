"""What a run warns of: one list for the summary and the page."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rageval.report.run.gate_results import ungated
from pytest_rageval.report.run.plan import Plan

__all__ = ["warned"]


def warned(plan: Plan, undecided: Iterable[tuple[str, str]]) -> list[str]:
    """Return the warnings of a run: of its data, of gates that may hide a drop, and of testbeds that cannot fail.

    Args:
        plan: what was to be run.
        undecided: the gates that hold and may hide a drop, each as (scope, gate).
    """
    notes = [f"{testbed.name}: {note}" for testbed in plan.testbeds.values() for note in testbed.notes]
    notes += plan.notes
    if plan.inconclusive == "warn":
        notes += [
            f"{scope}: {gate} is inconclusive; rag_inconclusive = fail would fail it" for scope, gate in undecided
        ]
    notes += [f"{name}: no gate and no assertion decides this testbed; it cannot fail" for name in ungated(plan)]
    return notes
