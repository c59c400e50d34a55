"""Report the built-in system that answers by default, and a baseline of another system."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.config.fixture_overrides import SYSTEM_FIXTURE, similar_fixtures

if TYPE_CHECKING:
    import pytest

    from pytest_rageval.analysis.baseline.snapshot import Snapshot
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.report.run.plan import Plan

__all__ = ["default_system", "note_similar_fixture", "other_system_notes"]


def note_similar_fixture(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Warn if a built-in system answers by default, and a user's fixture has a name similar to ``rag_system``."""
    first = {item.path: item for item in items if ENTRY in item.stash and item.stash[ENTRY].responder.default}
    similar = dict.fromkeys(each for item in first.values() for each in similar_fixtures(SYSTEM_FIXTURE, item))
    if similar:
        config.stash[COLLECTED].notes.append(f"no fixture rag_system; did you mean {' or '.join(similar)}?")


def default_system(entries: Iterable[Entry]) -> str:
    """Return the built-in system that answers cases because no fixture and no option names one; "" if none does."""
    return next((entry.responder.name for entry in entries if entry.responder.default), "")


def other_system_notes(baseline: Snapshot | None, plan: Plan, systems: Collection[str]) -> tuple[str, ...]:
    """Return a warning if the session has one system and the baseline another one; else nothing.

    Args:
        baseline: the baseline, or None.
        plan: the session's plan.
        systems: names of the systems of the selected cases.
    """
    if baseline is None or plan.updates:
        return ()
    in_baseline = {case.system for case in baseline.cases if not plan.narrowed or case.testbed in plan.testbeds}
    if not len(in_baseline) == len(systems) == 1 or in_baseline == {*systems}:
        return ()
    other, system = *in_baseline, *systems
    return (f"the baseline holds {other}, and {system} answers here: their differences are those of two systems",)
