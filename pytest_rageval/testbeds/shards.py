"""Cases dealt to the machines that share a session: by their ids alone, and evenly in each testbed."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_rageval.model.case import Case
from pytest_rageval.testbeds.ids import digest

__all__ = ["Unit", "deal", "unit_of"]

Unit = tuple[str, ...]
"""What stays on one machine: a case in all its settings, or a conversation with all its turns."""


def unit_of(case: Case, dataset: str) -> Unit:
    """Return what a case belongs to: the conversation that it is a turn of, else its instance in the dataset."""
    dialogue = case.facets.get("dialogue")
    return (dataset, case.id) if dialogue is None or "round" not in case.facets else (dataset, "", dialogue)


def deal(units: Mapping[Unit, Mapping[str, int]], of: int) -> dict[Unit, int]:
    """Return the shard, of 1 to ``of``, that each unit goes to.

    A unit goes where its testbeds have the fewest cases so far, so that the shards of a testbed whose units are of one
    size, and in no other testbed, differ by one unit at most. The units that several testbeds share go first, then
    the large ones, and else they follow a hash of what they are: the order in which they are given changes nothing.

    Args:
        units: each unit with how many cases it has in each testbed.
        of: how many shards there are, 1 or more.
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
