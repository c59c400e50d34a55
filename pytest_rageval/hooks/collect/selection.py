"""Select the cases to run: by the marker's ``where``, ``limit``, ``sample``, then options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from pytest_rageval.hooks.collect.testbed import Entry, Testbed
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.model.facets import matches
from pytest_rageval.testbeds.selection import select
from pytest_rageval.testbeds.shards import Unit, deal, unit_of

__all__ = ["deselected", "left_out", "marker_ordinals", "of_other_shards"]


def deselected(options: Options, entries: Sequence[Entry], candidates: Collection[int]) -> set[int]:
    """Return the ordinals among ``candidates`` that the marker, the limit or the sample deselect.

    The marker's selection defines the testbed and ignores all other options. The limit and sample of the command line
    apply to the cases that pytest's own options selected. Both follow the order of the data. A case that runs several
    times (other parameters of its test, several systems) counts once.

    Args:
        options: the command line's limit and sample.
        entries: all cases of the session.
        candidates: the ordinals of the cases that pytest's own options selected.
    """
    selected: set[int] = set()
    for testbed, of_testbed in _by_testbed(entries).items():
        if options.limit is None and options.sample is None:
            selected.update(entry.ordinal for entry in _marker_selection(testbed, of_testbed))
            continue
        groups = _marker_groups(testbed, of_testbed)
        available = [group for group in groups if any(entry.ordinal in candidates for entry in group)]
        selection = _select(available, options.limit, options.sample, testbed.seed)
        selected.update(entry.ordinal for group in selection for entry in group)
    return set(candidates) - selected


def marker_ordinals(entries: Sequence[Entry]) -> list[int]:
    """Return the ordinals of the cases that the markers of their testbeds select, in data order."""
    by_testbed = _by_testbed(entries).items()
    return sorted(entry.ordinal for testbed, cases in by_testbed for entry in _marker_selection(testbed, cases))


def left_out(entries: Sequence[Entry], running: Collection[int]) -> Counter[str]:
    """Count, for the node id of each collected testbed, the cases that its marker selects but that do not run."""
    return Counter(
        testbed.nodeid
        for testbed, cases in _by_testbed(entries).items()
        if testbed.reached
        for entry in _marker_selection(testbed, cases)
        if entry.ordinal not in running
    )


def _by_testbed(entries: Sequence[Entry]) -> dict[Testbed, list[Entry]]:
    groups: dict[Testbed, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.testbed, []).append(entry)
    return groups


def _marker_selection(testbed: Testbed, entries: Sequence[Entry]) -> Iterable[Entry]:
    """Return the cases of a testbed that its marker selects."""
    settings = testbed.settings
    if not settings.where and settings.limit is None and settings.sample is None:
        return entries
    return (entry for group in _marker_groups(testbed, entries) for entry in group)


def _marker_groups(testbed: Testbed, entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return the cases that the marker selects; a group has all parameters and systems of one case."""
    where = testbed.settings.where
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        if not where or matches(entry.case.facets, where):
            groups.setdefault(entry.name, []).append(entry)
    return _select(list(groups.values()), testbed.settings.limit, testbed.settings.sample, testbed.seed)


def of_other_shards(shard: tuple[int, int], entries: Sequence[Entry], selected: Collection[int]) -> set[int]:
    """Return the ordinals among ``selected`` that other shards run.

    One shard runs all settings, systems and repeats of a case, in all testbeds, and all turns of a conversation.

    Args:
        shard: this shard's number, and the number of shards.
        entries: every case of the session.
        selected: the ordinals of the selected cases, on all machines.
    """
    units: dict[Unit, Counter[str]] = {}
    for ordinal in selected:
        entry = entries[ordinal]
        units.setdefault(_unit(entry), Counter())[entry.testbed.nodeid] += 1
    number, n_shards = shard
    shares = deal(units, n_shards)
    return {ordinal for ordinal in selected if shares[_unit(entries[ordinal])] != number}


def _unit(entry: Entry) -> Unit:
    return unit_of(entry.case, entry.source.name)


def _select(cases: list[list[Entry]], limit: int | None, sample: int | None, seed: int) -> list[list[Entry]]:
    if limit is None and sample is None:
        return cases
    return [cases[at] for at in select([group[0].case for group in cases], {}, limit, sample, seed)]
