"""Best of n: what one could reach by choosing the best system for each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from pytest_rageval.analysis.systems.board import Board

__all__ = ["BestOf", "best_of", "best_pairs"]


@dataclass(frozen=True, slots=True)
class BestOf:
    """The mean of each case's best score among some systems.

    Attributes:
        systems: their names.
        mean: that mean, over the cases that all of them scored. For a rate, the share that at least one gets right.
        n: number of these cases.
        single: the mean of the best single one over the same cases.
        best: its name.
    """

    systems: tuple[str, ...]
    mean: float
    n: int
    single: float
    best: str

    @property
    def gain(self) -> float:
        """How much better the choice is than the best single system, 0 or more."""
        return abs(self.mean - self.single)


def best_of(board: Board, systems: Sequence[str] | None = None) -> BestOf | None:
    """Return the best of some systems, by default of all; None if they have no case in common."""
    names = tuple(candidate.name for candidate in board.candidates) if systems is None else tuple(systems)
    scores = [board.scores[name] for name in names]
    common = [key for key in board.facets if scores and all(key in each for each in scores)]
    if not common:
        return None
    means = {name: fmean(each[key] for key in common) for name, each in zip(names, scores, strict=True)}
    single = board.best(means.values())
    best = next(name for name in names if means[name] == single)
    mean = fmean(board.best(each[key] for each in scores) for key in common)
    return BestOf(names, mean, len(common), single, best)


def best_pairs(board: Board) -> list[BestOf]:
    """Return the best of each pair of systems, the one with the largest gain first."""
    names = [candidate.name for candidate in board.candidates]
    found = [best_of(board, pair) for pair in combinations(names, 2)]
    known = [each for each in found if each is not None]
    sign = -1 if board.info.higher_is_better else 1
    return sorted(known, key=lambda each: (-round(each.gain, 9), sign * each.mean))
