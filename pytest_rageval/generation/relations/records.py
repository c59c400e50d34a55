"""The records of a dataset, for a choice of other records that a new record hardly changes."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_rageval.model.case import Instance
from pytest_rageval.testbeds.ids import digest

__all__ = ["NO_RECORDS", "Records"]

_BYTES = 8


@dataclass(frozen=True, slots=True)
class Records:
    """Records with passages, in the order of a hash of their ids; make it by `Records.of`.

    Attributes:
        places: the hash of each record, sorted.
        instances: the records, in that order.
    """

    places: tuple[int, ...] = ()
    instances: tuple[Instance, ...] = ()

    @classmethod
    def of(cls, instances: Iterable[Instance]) -> Records:
        """Return the records of a dataset that have passages."""
        placed = ((int.from_bytes(digest(each.id)[:_BYTES], "big"), each) for each in instances if each.passages)
        ordered = sorted(placed, key=lambda pair: pair[0])
        return cls(tuple(place for place, _ in ordered), tuple(each for _, each in ordered))

    def others(self, than: Instance, chance: random.Random) -> Iterator[Instance]:
        """Yield other records at random, also repeatedly, without end; nothing if there is none.

        Each is the first one from a random place on. One more record therefore changes few choices.
        """
        n = len(self.instances)
        while any(each.id != than.id for each in self.instances[:2]):
            at = bisect_left(self.places, chance.getrandbits(8 * _BYTES))
            found = self.instances[at % n]
            yield found if found.id != than.id else self.instances[(at + 1) % n]


NO_RECORDS = Records()
