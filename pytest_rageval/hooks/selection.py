"""Which collected cases run: ``where``, ``limit`` and ``sample`` of a marker, then those of the command line."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.hooks.collected import Entry, Testbed
from pytest_rageval.hooks.given import Options
from pytest_rageval.testbeds.selection import select

__all__ = ["deselected"]


def deselected(options: Options, entries: Sequence[Entry]) -> set[int]:
    """Return the ordinals of the entries that do not run.

    Selection follows the order of the data, whatever order the items are in, and looks only at what
    pytest's own options left. A case that a test's other parameters multiply counts once.
    """
    groups: dict[Testbed, dict[int, Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.ordinal):
        groups.setdefault(entry.testbed, {})[entry.ordinal] = entry
    staying: set[int] = set()
    for testbed, group in groups.items():
        settings = testbed.settings
        kept = list(group.values())
        places = select(
            [entry.case for entry in kept],
            settings.where,
            settings.limit,
            settings.sample,
            testbed.seed,
            settings.origin,
        )
        kept = [kept[at] for at in places]
        if options.limit or options.sample:
            cases = [entry.case for entry in kept]
            kept = [kept[at] for at in select(cases, {}, options.limit, options.sample, testbed.seed)]
        staying.update(entry.ordinal for entry in kept)
    return {entry.ordinal for entry in entries} - staying
