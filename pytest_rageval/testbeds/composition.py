"""The composition of a case's passages, and the pools of passages by role."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from pytest_rageval.errors import DataError
from pytest_rageval.model.case import Instance, Passage, Role

__all__ = ["Assemble", "Composition", "Pools", "exact", "exact_count"]


@dataclass(frozen=True, slots=True)
class Composition:
    """The passage settings of one case.

    Attributes:
        evidence: the role of the passages that are not noise; "" if all are noise.
        passages: number of passages to supply.
        noise_rate: the share of noise, in 0..1.
        correct_rate: the share of correct passages among the counterfactual ones, in 0..1.
    """

    evidence: Role
    passages: int
    noise_rate: float = 0.0
    correct_rate: float = 0.0


Assemble = Callable[[Instance, Composition, int], tuple[Passage, ...]]
"""Pure function that chooses and orders the passages of a case, from an instance, a composition and a seed."""


@dataclass(frozen=True, slots=True)
class Pools:
    """An instance's passages by role, each in the order of the record.

    Attributes:
        positives: the positive passages.
        negatives: the negative passages.
        falsehoods: the counterfactual passages.
        groups: the positive passages by sub-question; empty if none has a group.
    """

    positives: tuple[Passage, ...]
    negatives: tuple[Passage, ...]
    falsehoods: tuple[Passage, ...]
    groups: tuple[tuple[Passage, ...], ...]

    @classmethod
    def of(cls, instance: Instance) -> Pools:
        """Return the pools of an instance; passages without a role are in no pool."""
        pools: dict[Role, list[Passage]] = {"": [], "positive": [], "negative": [], "counterfactual": []}
        groups: dict[int | None, list[Passage]] = {}
        for passage in instance.passages or ():
            pools[passage.role].append(passage)
            if passage.role == "positive":
                groups.setdefault(passage.group, []).append(passage)
        return cls(
            tuple(pools["positive"]),
            tuple(pools["negative"]),
            tuple(pools["counterfactual"]),
            () if set(groups) <= {None} else tuple(map(tuple, groups.values())),
        )

    def twins(self, instance: Instance, correct_rate: float) -> tuple[Passage, ...]:
        """Return the correct twin of each counterfactual passage, in order; empty if there are no twins.

        The positive passages are the twins if there are as many of them as counterfactual passages. If the counts
        differ, a ``correct_rate`` above 0 raises `DataError`.
        """
        if len(self.positives) == len(self.falsehoods):
            return self.positives
        if correct_rate > 0:
            problem = (
                f"passages: found {len(self.positives)} positive for {len(self.falsehoods)} counterfactual, "
                "wanted one for each, because correct_rate replaces counterfactual passages by positive ones"
            )
            raise DataError(instance.origin, problem)
        return ()


@lru_cache(maxsize=1024)
def exact_count(passages: int, rate: float) -> int:
    """Return ``passages * rate`` rounded up, without float error: 25 * 0.28 is 7, not 8."""
    return math.ceil(passages * exact(rate))


def exact(rate: float) -> Fraction:
    """Return the exact fraction for a float: 7/25 for 0.28, 5/6 for 5 / 6."""
    return Fraction(str(rate)).limit_denominator(10**9)
