"""Agreement of votes: between judges, between repeats, and in swapped order."""

from __future__ import annotations

from support.samples.outcome_samples import outcome

from pytest_rageval.analysis.people.vote_agreement import Ballots, Pairs, ballots_of
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.verdict import Verdict, Vote

NOTHING = Pairs(0, 0)


def vote(model: str, label: str | int | None, repeat: int = 1, *, swapped: bool = False) -> Vote:
    verdict = Verdict(problem="parse_error: empty") if label is None else Verdict(label)
    return Vote(model, verdict, repeat, swapped)


def outcome_with_votes(*votes: Vote, metric: str = "tone") -> Outcome:
    base = outcome("q", 1.0)
    return Outcome(
        base.nodeid, "q", base.testbed, {}, "mine", "scored",
        scores={"accuracy": Score(1.0), metric: Score(1.0, verdict=Verdict("so", votes=votes))},
    )  # fmt: skip


def test_ballots_are_missing_without_votes() -> None:
    assert ballots_of([outcome("q", 1.0), outcome_with_votes()]) == []


def test_pairs_of_judges_repeats_and_orders_are_separate() -> None:
    (ballots,) = ballots_of([
        outcome_with_votes(
            vote("a", "yes"), vote("a", "no", 2), vote("a", "yes", swapped=True),
            vote("b", "yes"), vote("b", "no", 2), vote("b", None, swapped=True),
        ),
        outcome_with_votes(vote("a", "no"), vote("b", "yes")),
        outcome_with_votes(vote("a", "no"), vote("b", "no")),
        outcome_with_votes(vote("a", "no"), vote("b", None)),
    ])  # fmt: skip
    assert ballots == Ballots(
        "tone", ("a", "b"), n_votes=12, n_unread=2, n_answers=3, n_split=2,
        judges=Pairs(4, 3), repeats=Pairs(2, 0), swapped=Pairs(1, 1),
    )  # fmt: skip
    assert ballots.split == 2 / 3
    assert ballots.judges.share == 0.75


def test_metrics_are_separate_and_an_unread_panel_has_no_share() -> None:
    one, other = ballots_of([
        outcome_with_votes(vote("a", None), vote("b", 3)),
        outcome_with_votes(vote("c", 1), vote("c", 1, 2), metric="stars"),
    ])  # fmt: skip
    assert (one.metric, one.n_answers, one.split, one.judges) == ("tone", 0, None, NOTHING)
    assert (other.metric, other.models, other.split, other.repeats.share) == ("stars", ("c",), 0, 1)
