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
    """The mean of each case's best score among some systems, over the cases that all systems scored.

    Attributes:
        systems: the names of the systems to choose from.
        mean: that mean. For a rate, the share of cases that at least one of them gets right.
        n: number of cases.
        single: the mean of the best single one of all systems, over the same cases.
        best: its name.
    """

    systems: tuple[str, ...]
    mean: float
    n: int
    single: float
    best: str

    @property
    def gain(self) -> float:
        """How much higher the mean is than the best single system's; below 0 if it is lower."""
        return self.mean - self.single


def best_of(board: Board, systems: Sequence[str] | None = None) -> BestOf | None:
    """Return the best of some systems, by default of all; None if all systems have no case in common."""
    common = [key for key in board.facets if all(key in scores for scores in board.scores.values())]
    if not common:
        return None
    means = {name: fmean(scores[key] for key in common) for name, scores in board.scores.items()}
    single = board.best(means.values())
    best = next(name for name, mean in means.items() if mean == single)
    names = tuple(means) if systems is None else tuple(systems)
    mean = fmean(board.best(board.scores[name][key] for name in names) for key in common)
    return BestOf(names, mean, len(common), single, best)


def best_pairs(board: Board) -> list[BestOf]:
    """Return the best of each pair of systems, the pair that gains most first."""
    names = [candidate.name for candidate in board.candidates]
    found = [best_of(board, pair) for pair in combinations(names, 2)]
    sign = -1 if board.info.higher_is_better else 1
    return sorted((each for each in found if each is not None), key=lambda each: sign * round(each.mean, 9))
