"""Measure how far judges agree: with each other, with their repeats, and in swapped order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.verdict import Vote

__all__ = ["Ballots", "Pairs", "ballots_of"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """How many pairs of labels agree.

    Attributes:
        n: number of pairs.
        same: number of pairs with the same label.
    """

    n: int
    same: int

    @property
    def share(self) -> float | None:
        """Share of equal pairs; None without pairs."""
        return self.same / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Ballots:
    """The votes on one metric, and how far they agree.

    Attributes:
        metric: the metric's name.
        models: the voting models.
        n_votes: number of votes.
        n_unread: number of votes without a label.
        n_answers: number of answers with two or more labels.
        n_split: number of these answers whose labels differ.
        judges: pairs of votes of two models, in the same repeat and order.
        repeats: pairs of votes of one model in two repeats, in the same order.
        swapped: pairs of votes of one model in both orders, in the same repeat.
    """

    metric: str
    models: tuple[str, ...]
    n_votes: int
    n_unread: int
    n_answers: int
    n_split: int
    judges: Pairs
    repeats: Pairs
    swapped: Pairs

    @property
    def split(self) -> float | None:
        """The share of answers on which the votes disagree; None if no answer got two labels."""
        return self.n_split / self.n_answers if self.n_answers else None


def ballots_of(outcomes: Iterable[Outcome]) -> list[Ballots]:
    """Return the ballots of each metric, in the order of the outcomes; verdicts with a single vote are left out."""
    by_metric: dict[str, list[tuple[Vote, ...]]] = {}
    for outcome in outcomes:
        for metric, score in outcome.scores.items():
            if score.verdict is not None and score.verdict.votes:
                by_metric.setdefault(metric, []).append(score.verdict.votes)
    return [_ballots(metric, answers) for metric, answers in by_metric.items()]


def _ballots(metric: str, answers: Sequence[tuple[Vote, ...]]) -> Ballots:
    with_label = [[vote for vote in votes if vote.verdict.label is not None] for votes in answers]
    several = [votes for votes in with_label if len(votes) > 1]
    return Ballots(
        metric=metric,
        models=tuple(dict.fromkeys(vote.model for votes in answers for vote in votes)),
        n_votes=sum(map(len, answers)),
        n_unread=sum(map(len, answers)) - sum(map(len, with_label)),
        n_answers=len(several),
        n_split=sum(len({vote.verdict.label for vote in votes}) > 1 for votes in several),
        judges=_pairs(several, _are_of_two_judges),
        repeats=_pairs(several, _are_repeats),
        swapped=_pairs(several, _are_swapped),
    )


def _pairs(answers: Iterable[Sequence[Vote]], is_pair: Callable[[Vote, Vote], bool]) -> Pairs:
    pairs = [pair for votes in answers for pair in combinations(votes, 2) if is_pair(*pair)]
    return Pairs(len(pairs), sum(one.verdict.label == other.verdict.label for one, other in pairs))


def _are_of_two_judges(one: Vote, other: Vote) -> bool:
    return one.model != other.model and (one.repeat, one.swapped) == (other.repeat, other.swapped)


def _are_repeats(one: Vote, other: Vote) -> bool:
    return one.model == other.model and one.swapped == other.swapped and one.repeat != other.repeat


def _are_swapped(one: Vote, other: Vote) -> bool:
    return one.model == other.model and one.swapped != other.swapped and one.repeat == other.repeat
