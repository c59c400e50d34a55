"""Divide cases among machines by their ids, evenly within each testbed."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_rageval.model.case import Case
from pytest_rageval.testbeds.ids import digest

__all__ = ["Unit", "deal", "unit_of"]

Unit = tuple[str, ...]
"""Cases that must run on the same machine: an instance in all its settings, or a whole conversation."""


def unit_of(case: Case, dataset: str) -> Unit:
    """Return the unit of a case: its conversation if the case is a turn, else its instance in the dataset."""
    dialogue = case.facets.get("dialogue")
    return (dataset, case.id) if dialogue is None or "round" not in case.facets else (dataset, "", dialogue)


def deal(units: Mapping[Unit, Mapping[str, int]], of: int) -> dict[Unit, int]:
    """Assign each unit to a shard, numbered from 1 to ``of``.

    Each unit goes to the shard with the fewest cases of its testbeds. Units that several testbeds share come first,
    then large units, then the others by a hash. The order of ``units`` has no effect. If the units of a testbed have
    the same size and belong to no other testbed, its shards differ by at most one unit.

    Args:
        units: unit -> testbed -> number of the unit's cases in it.
        of: number of shards, 1 or more.
    """
    loads: dict[str, list[int]] = {testbed: [0] * of for cases in units.values() for testbed in cases}
    totals = [0] * of
    shares: dict[Unit, int] = {}
    for unit in sorted(units, key=lambda unit: (-len(units[unit]), -sum(units[unit].values()), digest(*unit))):
        cases = units[unit]
        at = min(range(of), key=lambda at: (sum(loads[testbed][at] for testbed in cases), totals[at], at))
        for testbed, n in cases.items():
            loads[testbed][at] += n
        totals[at] += sum(cases.values())
        shares[unit] = at + 1
    return shares
