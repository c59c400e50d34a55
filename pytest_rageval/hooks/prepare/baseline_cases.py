"""Find the baseline's cases that this session deselected; gates do not miss them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_rageval.analysis.baseline.pairing import pair_up
from pytest_rageval.analysis.baseline.snapshot import Measured, facets_of_case
from pytest_rageval.hooks.collect.selection import marker_ordinals
from pytest_rageval.model.digests import case_digest

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["deselected_of_baseline"]


def deselected_of_baseline(collected: Collected, chosen: Sequence[int]) -> tuple[int, ...]:
    """Return the positions in the baseline of the cases that the session collected but does not run.

    Cases are paired by id, else by content, like the cases that run. A case that its marker's ``where``, ``limit`` or
    ``sample`` leaves out is not in the testbed, and so not deselected.

    Args:
        collected: every testbed and case.
        chosen: the ordinals of the cases that run, on any shard.
    """
    if collected.baseline is None:
        return ()
    running = set(chosen)
    entries = collected.entries
    systems = {entries[ordinal].responder.name for ordinal in chosen}
    mine = [entries[at] for at in marker_ordinals(entries)]
    mine = [entry for entry in mine if entry.testbed.reached and entry.responder.name in systems]
    if running.issuperset(entry.ordinal for entry in mine):
        return ()
    before = collected.baseline.cases
    places = {id(case): at for at, case in enumerate(before)}
    if collected.options.narrowed:
        reached = {entry.testbed.nodeid for entry in mine}
        before = tuple(case for case in before if case.testbed in reached)
    now: dict[object, Measured] = {}
    for entry in mine:
        case = _case(collected, entry)
        now[case.key] = case
    runs = {_case(collected, entries[ordinal]).key for ordinal in chosen}
    pairing = pair_up(before, list(now.values()))
    pairs = (*pairing.pairs, *pairing.changed, *pairing.failed)
    return tuple(sorted(places[id(pair.before)] for pair in pairs if pair.after.key not in runs))


def _case(collected: Collected, entry: Entry) -> Measured:
    """Return a case in the form of a measured one, without scores; its repeats are one case."""
    case = collected.session_case(entry)
    return Measured(entry.testbed.nodeid, case.id, entry.responder.name, facets_of_case(case.facets), case_digest(case))
