"""Find the best system of each scope, and the systems not significantly different from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.paired_tests import PairedTest, paired_test
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.analysis.systems.board import Board, Key

__all__ = ["Best", "Contrast", "best_of_scope", "contrast_of", "contrasts"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The comparison of two systems on the cases for which both have a score.

    Attributes:
        system, other: their names.
        n: number of these cases.
        won, lost: number of cases on which ``system`` is better, and on which it is worse.
        difference: mean of ``system`` minus mean of ``other``; None without such a case.
        p_value: two-sided p of the paired test; None if it could not be made.
        p_adjusted: ``p_value`` after Holm's correction over the contrasts that are decided together.
        least: the smallest detectable difference: the test finds it four times in five. None if there is none.
        separable: whether ``p_adjusted`` is at most alpha.
        ci95: the 95 % interval of ``difference``; None if there are too few units.
    """

    system: str
    other: str
    n: int
    won: int
    lost: int
    difference: float | None
    p_value: float | None
    p_adjusted: float | None = None
    least: float | None = None
    separable: bool = False
    ci95: Interval | None = None


@dataclass(frozen=True, slots=True)
class Best:
    """The best system of a scope.

    Attributes:
        scope: "all", or a facet and its value such as ``workflow=rag``.
        system: the name of the best system.
        mean: its mean over the scope.
        others: the contrast of the best system with each other system of the scope.
    """

    scope: str
    system: str
    mean: float
    others: tuple[Contrast, ...]

    @property
    def not_separable(self) -> tuple[Contrast, ...]:
        """The contrasts without a significant difference from the best system."""
        return tuple(each for each in self.others if not each.separable)

    @property
    def separable(self) -> tuple[Contrast, ...]:
        """The contrasts with systems that are significantly worse."""
        return tuple(each for each in self.others if each.separable)


def best_of_scope(board: Board, scope: str, systems: Sequence[str], cases: Sequence[Key], alpha: float) -> Best | None:
    """Return the system with the best mean over its scored cases; None unless two systems have a scored case.

    The best system is tested against each other system, on the cases for which both have a score. Holm's correction is
    over these tests.
    """
    scored = {name: [board.scores[name][key] for key in cases if key in board.scores[name]] for name in systems}
    means = {name: fmean(values) for name, values in scored.items() if values}
    if len(means) < 2:
        return None
    top = board.best(means.values())
    best = next(name for name, mean in means.items() if mean == top)
    others = contrasts(board, ((best, name) for name in means if name != best), cases, alpha)
    return Best(scope, best, top, others)


def contrasts(
    board: Board, pairs: Iterable[tuple[str, str]] | None, cases: Sequence[Key], alpha: float
) -> tuple[Contrast, ...]:
    """Return the contrasts of pairs of systems, decided together; ``pairs`` None means all pairs."""
    names = [candidate.name for candidate in board.candidates]
    chosen = list(combinations(names, 2) if pairs is None else pairs)
    raw = [_contrast(board, one, other, cases, alpha, len(chosen)) for one, other in chosen]
    adjusted = holm([each.p_value for each in raw])
    return tuple(
        replace(each, p_adjusted=p, separable=p is not None and p <= alpha)
        for each, p in zip(raw, adjusted, strict=True)
    )


def contrast_of(one: str, other: str, test: PairedTest, least: float | None) -> Contrast:
    """Return the contrast of two systems from their paired test, in which ``other`` is the baseline."""
    won, lost = test.n_better, test.n_worse
    return Contrast(one, other, test.n_pairs, won, lost, test.delta, test.p_value, None, least, ci95=test.ci95)


def _contrast(board: Board, one: str, other: str, cases: Sequence[Key], alpha: float, n: int) -> Contrast:
    scores, other_scores = board.scores[one], board.scores[other]
    common = [key for key in cases if key in scores and key in other_scores]
    test = paired_test(
        [other_scores[key] for key in common],
        [scores[key] for key in common],
        higher_is_better=board.info.higher_is_better,
        alpha=alpha,
        cells=n,
        units=[board.units[key] for key in common],
    )
    least = test.at_level(alpha / 2 / n).least_drop if common else None  # the test is two-sided
    return contrast_of(one, other, test, least)
