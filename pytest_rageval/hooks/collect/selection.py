"""Which collected cases run: ``where``, ``limit`` and ``sample`` of a marker, then those of the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from pytest_rageval.hooks.collect.testbed import Entry, Testbed
from pytest_rageval.hooks.config.settings import Options
from pytest_rageval.model.facets import matches
from pytest_rageval.testbeds.selection import select
from pytest_rageval.testbeds.shards import Unit, deal, unit_of

__all__ = ["declared", "deselected", "left_out", "of_other_shards"]


def deselected(options: Options, entries: Sequence[Entry], left: Collection[int]) -> set[int]:
    """Return the ordinals among ``left`` that do not run.

    A marker's own selection says what its testbed is, whatever else the session leaves out; the command line's
    takes the first, or a sample, of what pytest's own options left of it. Both follow the order of the data. A case
    that a test's other parameters or several systems multiply counts once.

    Args:
        options: the command line's limit and sample.
        entries: every case of the session.
        left: the ordinals of the cases that pytest's own options left.
    """
    staying: set[int] = set()
    for testbed, cases in _own(entries).items():
        kept = [same for same in cases if any(entry.ordinal in left for entry in same)]
        kept = _chosen(kept, options.limit, options.sample, testbed.seed)
        staying.update(entry.ordinal for same in kept for entry in same)
    return set(left) - staying


def declared(entries: Sequence[Entry]) -> list[int]:
    """Return the ordinals of the cases that the markers of their testbeds select, in data order."""
    return sorted(entry.ordinal for group in _own(entries).values() for same in group for entry in same)


def left_out(entries: Sequence[Entry], running: Collection[int]) -> int:
    """Return how many cases of the testbeds that the session collects do not run, though their markers select them."""
    cases = [same for testbed, group in _own(entries).items() if testbed.reached for same in group]
    return sum(entry.ordinal not in running for same in cases for entry in same)


def _own(entries: Sequence[Entry]) -> dict[Testbed, list[list[Entry]]]:
    """Return the cases of each testbed that its marker selects; what multiplies a case stands together."""
    groups: dict[Testbed, dict[str, list[Entry]]] = {}
    for entry in entries:
        if matches(entry.case.facets, entry.testbed.settings.where):
            groups.setdefault(entry.testbed, {}).setdefault(entry.name, []).append(entry)
    return {
        testbed: _chosen(list(group.values()), testbed.settings.limit, testbed.settings.sample, testbed.seed)
        for testbed, group in groups.items()
    }


def of_other_shards(shard: tuple[int, int], entries: Sequence[Entry], chosen: Collection[int]) -> set[int]:
    """Return the ordinals among ``chosen``, which the session runs on all its machines, that are not this shard's.

    A case goes to one shard with all its settings, systems and repeats, in all testbeds, and a conversation with all
    its turns.

    Args:
        shard: which, and of how many.
        entries: every case of the session.
        chosen: the ordinals of the cases that are selected.
    """
    units: dict[Unit, Counter[str]] = {}
    for ordinal in chosen:
        entry = entries[ordinal]
        units.setdefault(_unit(entry), Counter())[entry.testbed.nodeid] += 1
    number, of = shard
    shares = deal(units, of)
    return {ordinal for ordinal in chosen if shares[_unit(entries[ordinal])] != number}


def _unit(entry: Entry) -> Unit:
    return unit_of(entry.case, entry.source.name)


def _chosen(cases: list[list[Entry]], limit: int | None, sample: int | None, seed: int) -> list[list[Entry]]:
    if limit is None and sample is None:
        return cases
    return [cases[at] for at in select([same[0].case for same in cases], {}, limit, sample, seed)]
