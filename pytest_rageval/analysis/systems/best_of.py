"""Best of n: the mean that one would reach by choosing the best system for each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from pytest_rageval.analysis.systems.board import Board

__all__ = ["BestOf", "best_of", "best_pairs"]


@dataclass(frozen=True, slots=True)
class BestOf:
    """The best of n, over the cases for which all systems have a score.

    Attributes:
        systems: the names of the systems to choose from.
        mean: mean of the best score of each case. For a rate, it is the share of cases that at least one system gets
            right.
        n: number of cases.
        single: mean of the best single system, out of all systems, over the same cases.
        best: the name of that system.
    """

    systems: tuple[str, ...]
    mean: float
    n: int
    single: float
    best: str

    @property
    def gain(self) -> float:
        """The mean minus the mean of the best single system."""
        return self.mean - self.single


def best_of(board: Board, systems: Sequence[str] | None = None) -> BestOf | None:
    """Return the best of n of some systems, by default of all; None without a case that all systems scored."""
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
    """Return the best of two for each pair of systems, the best pair first."""
    names = [candidate.name for candidate in board.candidates]
    results = [best_of(board, pair) for pair in combinations(names, 2)]
    sign = -1 if board.info.higher_is_better else 1
    return sorted((each for each in results if each is not None), key=lambda each: sign * round(each.mean, 9))
