"""Which collected cases run: ``where``, ``limit`` and ``sample`` of a marker, then those of the command line."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.hooks.collected import Entry, Testbed
from pytest_rageval.hooks.given import Options
from pytest_rageval.model.facets import matches
from pytest_rageval.testbeds.selection import select

__all__ = ["deselected"]


def deselected(options: Options, entries: Sequence[Entry]) -> set[int]:
    """Return the ordinals of the entries that do not run.

    Selection follows the order of the data, whatever order the items are in, and looks only at what
    pytest's own options left. A case that a test's other parameters or several systems multiply counts once.
    """
    groups: dict[Testbed, dict[int, Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.ordinal):
        groups.setdefault(entry.testbed, {})[entry.ordinal] = entry
    staying: set[int] = set()
    for testbed, group in groups.items():
        settings = testbed.settings
        asked: dict[str, list[Entry]] = {}
        for entry in group.values():
            if matches(entry.case.facets, settings.where):
                asked.setdefault(entry.name, []).append(entry)
        kept = list(asked.values())
        for limit, sample in ((settings.limit, settings.sample), (options.limit, options.sample)):
            cases = [same[0].case for same in kept]
            kept = [kept[at] for at in select(cases, {}, limit, sample, testbed.seed)]
        staying.update(entry.ordinal for same in kept for entry in same)
    return {entry.ordinal for entry in entries} - staying
