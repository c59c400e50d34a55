"""Agreement of people's preferences between two answers with the difference of a metric."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_rageval.analysis.people.agreement import Agreement, Estimate, Rating, agreement
from pytest_rageval.analysis.people.correlated import Correlations, correlations

__all__ = ["LEVELS", "PairAgreement", "PairRating", "pair_agreement"]

ROUNDING = 1e-9
"""Two scores that differ by at most this are a tie."""

LEVELS = (0.0, 0.5, 1.0)
"""The second system is better, a tie, the first system is better."""


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
    """How far a metric prefers what people prefer.

    Attributes:
        agreement: of the two preferences on three levels: first, tie, second. A tie agrees with a tie only.
        n_decided: pairs in which neither people nor the metric has a tie.
        decided: share of these pairs in which both prefer the same answer.
        n_ties: pairs that are a tie for people.
        n_equal: pairs with equal scores.
        correlations: of the preferences with the differences, both as they are.
    """

    agreement: Agreement
    n_decided: int
    decided: Estimate
    n_ties: int
    n_equal: int
    correlations: Correlations


def pair_agreement(pairs: Sequence[PairRating]) -> PairAgreement:
    """Return how far the differences of a metric agree with people's preferences.

    All pairs of two systems have to name them in one order. If all pairs are turned round, preferences and differences
    change their signs, and every share, kappa, alpha and correlation stays.
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
