"""Check recorded answers: keys that are not facets, answers that no case uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_rageval.engine.recorded_answers import RecordedAnswers
    from pytest_rageval.hooks.collect.session import Collected

__all__ = ["ignored_keys", "unused_answers"]


def ignored_keys(collected: Collected) -> Iterator[str]:
    """Ignore keys of recorded answers that are not facets of their testbeds, and yield a warning for each file.

    Call this before the first look-up of an answer.
    """
    facets: dict[RecordedAnswers, set[str]] = {}
    for testbed in collected.testbeds.values():
        if testbed.recorded is not None:
            facets.setdefault(testbed.recorded, set()).update(testbed.facets)
    for recorded, known in facets.items():
        ignored = sorted(recorded.limit_facets(known))
        if ignored:
            yield f"recorded answers have the keys {', '.join(ignored)}, which are facets of no case"


def unused_answers(collected: Collected) -> Iterator[str]:
    """Yield a warning for each file with answers to cases that the session does not have."""
    names: dict[RecordedAnswers, set[str]] = {}
    for entry in collected.entries:
        if entry.testbed.recorded is not None:
            names.setdefault(entry.testbed.recorded, set()).update((entry.case.id, entry.name))
    for recorded, known in names.items():
        unused = recorded.unused(known)
        if unused:
            yield f"{len(unused)} recorded answers are for no case of this session, the first for {unused[0]!r}"
