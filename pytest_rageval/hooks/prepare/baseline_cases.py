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
        collected: the collected testbeds and cases.
        chosen: the ordinals of the cases that run, on any shard.
    """
    if collected.baseline is None:
        return ()
    chosen_ordinals = set(chosen)
    entries = collected.entries
    systems = {entries[ordinal].responder.name for ordinal in chosen}
    candidates = [entries[at] for at in marker_ordinals(entries)]
    candidates = [entry for entry in candidates if entry.testbed.reached and entry.responder.name in systems]
    if chosen_ordinals.issuperset(entry.ordinal for entry in candidates):
        return ()
    baseline_cases = collected.baseline.cases
    positions = {id(case): at for at, case in enumerate(baseline_cases)}
    if collected.options.narrowed:
        testbeds = {entry.testbed.nodeid for entry in candidates}
        baseline_cases = tuple(case for case in baseline_cases if case.testbed in testbeds)
    session_cases: dict[object, Measured] = {}
    for entry in candidates:
        case = _case(collected, entry)
        session_cases[case.key] = case
    running = {_case(collected, entries[ordinal]).key for ordinal in chosen}
    pairing = pair_up(baseline_cases, list(session_cases.values()))
    pairs = (*pairing.pairs, *pairing.changed, *pairing.failed)
    return tuple(sorted(positions[id(pair.before)] for pair in pairs if pair.after.key not in running))


def _case(collected: Collected, entry: Entry) -> Measured:
    """Return a case as `Measured` without scores, for pairing; all repeats of a case are equal."""
    case = collected.session_case(entry)
    return Measured(entry.testbed.nodeid, case.id, entry.responder.name, facets_of_case(case.facets), case_digest(case))
