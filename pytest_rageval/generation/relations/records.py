"""Choose other records of a dataset at random; a new record changes few choices."""

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
    """Records with passages, sorted by a hash of their ids; create it with `Records.of`.

    Attributes:
        hashes: the hash of each record, sorted.
        instances: the records, in that order.
    """

    hashes: tuple[int, ...] = ()
    instances: tuple[Instance, ...] = ()

    @classmethod
    def of(cls, instances: Iterable[Instance]) -> Records:
        """Collect the records of a dataset that have passages."""
        placed = ((int.from_bytes(digest(each.id)[:_BYTES], "big"), each) for each in instances if each.passages)
        ordered = sorted(placed, key=lambda pair: pair[0])
        return cls(tuple(number for number, _ in ordered), tuple(each for _, each in ordered))

    def others(self, than: Instance, chance: random.Random) -> Iterator[Instance]:
        """Yield random other records endlessly, with repeats; nothing if there is no other record.

        Each choice is the first record after a random hash, so a new record changes few choices.
        """
        n = len(self.instances)
        while any(each.id != than.id for each in self.instances[:2]):
            at = bisect_left(self.hashes, chance.getrandbits(8 * _BYTES))
            record = self.instances[at % n]
            yield record if record.id != than.id else self.instances[(at + 1) % n]


NO_RECORDS = Records()
