"""Measure how far a metric agrees with people's preferences between two answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_rageval.analysis.people.agreement import Agreement, Estimate, Rating, agreement
from pytest_rageval.analysis.people.correlations import Correlations, correlations

__all__ = ["LEVELS", "PairAgreement", "PairRating", "pair_agreement"]

ROUNDING = 1e-9
"""Two scores that differ by at most this are a tie."""

LEVELS = (0.0, 0.5, 1.0)
"""The levels of a preference: the second system is better, a tie, the first system is better."""


class PairRating(NamedTuple):
    """A person's preference between two answers, and the difference of their scores.

    Attributes:
        case: the case that both systems answered.
        preference: in -1..1, above 0 if the person prefers the first system's answer.
        difference: in -1..1, above 0 if the metric finds the first system's answer better.
        unit: the independent unit of the case; None if the case is its own unit.
    """

    case: Hashable
    preference: float
    difference: float
    unit: Hashable = None


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The agreement of a metric's preferences with people's.

    Attributes:
        agreement: agreement of the two preferences on three levels: first, tie, second. A tie only agrees with a tie.
        n_decided: number of pairs that are a tie neither for people nor for the metric.
        decided: share of these pairs for which people and the metric prefer the same answer.
        n_ties: number of pairs that are a tie for people.
        n_equal: number of pairs with equal scores.
        correlations: correlations of people's preferences with the differences of the scores.
    """

    agreement: Agreement
    n_decided: int
    decided: Estimate
    n_ties: int
    n_equal: int
    correlations: Correlations


def pair_agreement(pairs: Sequence[PairRating]) -> PairAgreement:
    """Return how far the differences of a metric agree with people's preferences.

    All pairs of the same two systems must name the systems in the same order. If the order is reversed in all pairs,
    preferences and differences change their signs, and all shares, kappas, alphas and correlations stay the same.
    """
    ratings = [Rating(each.case, _level(each.difference), (_level(each.preference),), each.unit) for each in pairs]
    decided = [each for each in ratings if each.judged != LEVELS[1] and each.people != (LEVELS[1],)]
    return PairAgreement(
        agreement=agreement(ratings, LEVELS),
        n_decided=len(decided),
        decided=agreement(decided, (LEVELS[0], LEVELS[2])).accuracy,
        n_ties=sum(each.people == (LEVELS[1],) for each in ratings),
        n_equal=sum(each.judged == LEVELS[1] for each in ratings),
        correlations=correlations(
            [each.difference for each in pairs],
            [each.preference for each in pairs],
            [each.case if each.unit is None else each.unit for each in pairs],
        ),
    )


def _level(value: float) -> float:
    return LEVELS[1] if abs(value) <= ROUNDING else LEVELS[2] if value > 0 else LEVELS[0]
