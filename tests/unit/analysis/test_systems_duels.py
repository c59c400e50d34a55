"""Duels of systems, Bradley-Terry ratings and leaderboards."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from support.samples.labelled_runs import outcome_of

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.systems.board import Board, board_of
from pytest_rageval.analysis.systems.duels import Duel, contrasts_of_duels, duels_of_board, ratings
from pytest_rageval.analysis.systems.leaderboard import leaderboard_of_board, leaderboard_of_duels

ABC = ("a", "b", "c")
random_duels = st.lists(
    st.builds(Duel, st.just("a"), st.sampled_from(["b", "c"]), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 9)),
    min_size=1,
    max_size=30,
)


def duels_of(one: str, other: str, won: int, tied: int, lost: int) -> list[Duel]:
    values = [1.0] * won + [0.5] * tied + [0.0] * lost
    return [Duel(one, other, value, f"case {at}") for at, value in enumerate(values)]


def maximum_likelihood(duels: list[Duel], systems: tuple[str, ...]) -> list[float]:
    """Return the ratings that maximise the likelihood by a general optimiser, with one tie added for each pair."""
    pairs = {tuple(sorted(duel[:2])) for duel in duels}
    all_duels = [*duels, *(Duel(one, other, 0.5, None) for one, other in pairs)]

    def loss(logs: NDArray[np.float64]) -> float:
        total = 0.0
        for one, other, value, _ in all_duels:
            lead = logs[systems.index(one)] - logs[systems.index(other)]
            total += value * np.log1p(np.exp(-lead)) + (1 - value) * np.log1p(np.exp(lead))
        return float(total + (logs.mean() * 100) ** 2)

    logs = minimize(loss, np.zeros(len(systems)), tol=1e-12).x
    return [float(1000 + 400 * each / np.log(10)) for each in logs - logs.mean()]


def test_ratings_of_two_systems_match_a_calculation_by_hand() -> None:
    one, other = ratings(duels_of("a", "b", 7, 2, 3), ("a", "b"))
    assert (one.won, one.tied, one.lost) == (7, 2, 3)
    assert one.share == pytest.approx(8 / 12)
    assert (other.won, other.tied, other.lost) == (3, 2, 7)
    lead = 400 * np.log10((7 + 1 + 0.5) / (3 + 1 + 0.5))  # a tie is half a win for each; one tie is added
    assert [one.rating, other.rating] == pytest.approx([1000 + lead / 2, 1000 - lead / 2])
    assert one.ci95 is not None
    assert one.rating is not None
    assert one.ci95[0] < one.rating < one.ci95[1]


def test_ratings_maximise_the_likelihood() -> None:
    duels = [*duels_of("a", "b", 9, 1, 4), *duels_of("b", "c", 6, 3, 2), *duels_of("c", "a", 5, 0, 3)]
    expected = maximum_likelihood(duels, ABC)
    assert [each.rating for each in ratings(duels, ABC)] == pytest.approx(expected, abs=1e-3)


def test_a_system_that_wins_all_its_duels_gets_a_finite_rating_quickly() -> None:
    names = [f"s{at}" for at in range(8)]
    duels = [Duel(one, other, 1.0, case) for case in range(60) for one, other in combinations(names, 2)]
    start = time.process_time()
    values = [each.rating or 0.0 for each in ratings(duels, names)]
    assert time.process_time() - start < 10
    assert values == sorted(values, reverse=True)
    assert values[0] < 4000


def test_a_system_without_duels_has_no_rating() -> None:
    result = ratings(duels_of("a", "b", 1, 0, 1), ABC)
    assert (result[2].rating, result[2].share, result[2].won) == (None, None, 0)
    assert [each.rating for each in result[:2]] == pytest.approx([1000, 1000])


@settings(deadline=None, max_examples=30)
@given(random_duels)
def test_the_order_of_the_systems_in_a_duel_does_not_matter(duels: list[Duel]) -> None:
    swapped = [Duel(other, one, 1 - value, unit) for one, other, value, unit in duels]
    for one, other in zip(ratings(duels, ABC), ratings(swapped, ABC), strict=True):
        assert (one.won, one.tied, one.lost) == (other.won, other.tied, other.lost)
        assert one.rating == (None if other.rating is None else pytest.approx(other.rating))
    (straight,), (reverse,) = (contrasts_of_duels(each, [("a", "b")], 0.05) for each in (duels, swapped))
    assert (straight.n, straight.won, straight.lost) == (reverse.n, reverse.won, reverse.lost)
    assert straight.p_value == (None if reverse.p_value is None else pytest.approx(reverse.p_value))


def test_the_test_of_duels_is_the_sign_test() -> None:
    (result,) = contrasts_of_duels(duels_of("a", "b", 9, 5, 1), [("a", "b")], 0.05)
    assert (result.n, result.won, result.lost) == (15, 9, 1)
    assert result.difference == pytest.approx(8 / 15)
    assert result.p_value == pytest.approx(2 * (1 + 10) / 2**10)
    assert result.separable
    (swapped,) = contrasts_of_duels(duels_of("a", "b", 9, 5, 1), [("b", "a")], 0.05)
    assert (swapped.won, swapped.lost, swapped.p_value) == (1, 9, result.p_value)


def board(scores: Mapping[str, Sequence[float]], *, higher_is_better: bool = True) -> Board:
    outcomes = [
        outcome_of(f"q{at:02}", system=system, token_f1=value)
        for system, values in scores.items()
        for at, value in enumerate(values)
    ]
    return board_of(outcomes, "token_f1", MetricInfo(higher_is_better=higher_is_better))


def test_the_better_score_wins_a_duel() -> None:
    scores = {"a": [0.9, 0.5, 0.1], "b": [0.2, 0.5, 0.3]}
    assert [duel.value for duel in duels_of_board(board(scores))] == [1.0, 0.5, 0.0]
    assert [duel.value for duel in duels_of_board(board(scores, higher_is_better=False))] == [0.0, 0.5, 1.0]


def test_a_leaderboard_names_the_systems_that_do_not_differ_from_the_best() -> None:
    many = [at / 20 for at in range(20)]
    leaderboard = leaderboard_of_board(board({"low": [0.0] * 20, "good": many, "best": [*many[:-1], 1.0]}), 0.05)
    assert [(each.record.system, each.rank) for each in leaderboard.places] == [("best", 1), ("good", 2), ("low", 3)]
    assert leaderboard.not_separable == ["good"]
    low = leaderboard.places[2]
    assert low.behind is not None
    assert (low.behind.separable, low.record.won, low.record.tied) == (True, 0, 2)


def test_a_leaderboard_of_duels_is_sorted_by_ratings() -> None:
    duels = [*duels_of("a", "b", 1, 0, 30), *duels_of("b", "c", 20, 0, 12), *duels_of("a", "c", 1, 1, 20)]
    leaderboard = leaderboard_of_duels(duels, ("a", "b", "c", "d"), "better", 0.05)
    assert [(each.record.system, each.rank) for each in leaderboard.places] == [
        ("b", 1),
        ("c", 2),
        ("a", 3),
        ("d", None),
    ]
    assert leaderboard.not_separable == ["c"]
    assert leaderboard.places[3].behind is None
