"""Duels: two systems on one case, and the rating of each system from all its duels.

Sources: R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs", Biometrika 39 (1952); D. R. Hunter,
"MM algorithms for generalized Bradley-Terry models", Annals of Statistics 32 (2004), the fit; B. Efron, "Bootstrap
methods: another look at the jackknife", Annals of Statistics 7 (1979), the percentile interval.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.paired_tests import ROUNDING, paired_test
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.analysis.systems.board import Board
from pytest_rageval.analysis.systems.contrasts import Contrast, contrast_of
from pytest_rageval.metrics.shared.proportion import LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.floating[Any]]

__all__ = ["MIDDLE", "POINTS", "Duel", "DuelRecord", "contrasts_of_duels", "duels_of_board", "ratings"]

MIDDLE, POINTS = 1000.0, 400.0
"""Elo's scale: the mean rating of all systems, and the lead with which a system wins ten of eleven duels."""

RESAMPLES = 1_000
BATCH = 4_000_000  # numbers in one batch of resamples
MAX_STEPS, TOLERANCE = 10_000, 1e-10  # limit of steps of a fit; it ends if no log strength changes by more


class Duel(NamedTuple):
    """Two systems on one case.

    Attributes:
        one: the first system.
        other: the second system.
        value: 1 if the first system is better, 0 if the second is, 0.5 for a tie; the mean over a panel may lie
            between.
        unit: the independent unit of the case.
    """

    one: str
    other: str
    value: float
    unit: Hashable


@dataclass(frozen=True, slots=True)
class DuelRecord:
    """The duels of one system, and the rating that follows from all duels.

    Attributes:
        system: its name.
        won: duels that it won.
        tied: duels without a winner.
        lost: duels that it lost.
        share: share of duels won, in 0..1; a tie counts half. None without a duel.
        rating: its strength on Elo's scale, see `ratings`; None without a duel.
        ci95: the rating's 95 % interval; None if all duels belong to one unit.
    """

    system: str
    won: int
    tied: int
    lost: int
    share: float | None
    rating: float | None
    ci95: Interval | None = None


def duels_of_board(board: Board) -> list[Duel]:
    """Return the duels of all pairs of systems on the cases that both scored: the better score wins."""
    duels = []
    names = [candidate.name for candidate in board.candidates]
    for one, other in combinations(names, 2):
        scores, other_scores = board.scores[one], board.scores[other]
        for key in board.facets:
            if key in scores and key in other_scores:
                is_tie = abs(scores[key] - other_scores[key]) <= ROUNDING
                value = 0.5 if is_tie else float(board.better(scores[key], other_scores[key]))
                duels.append(Duel(one, other, value, board.units[key]))
    return duels


def ratings(duels: Sequence[Duel], systems: Sequence[str]) -> list[DuelRecord]:
    """Return the systems with their ratings, in the order of ``systems``.

    Formula: system i beats system j with probability p_i / (p_i + p_j). The strengths p maximise the likelihood of all
    duels; a tie counts half a win for each side. Each pair of systems that met gets one extra tie, because a system
    that won all its duels would otherwise have no finite strength. The rating is 1000 + 400 log10(p), with mean 1000.
    Ratings of systems that are not connected by a chain of duels cannot be compared.

    The intervals are percentiles of 1,000 resamples of the units, drawn with a fixed seed and widened to contain
    the rating. Each pair that met adds two units to draw from, one win and one loss, because a few equal results would
    show no spread. The intervals cover about 95 % for 5 to 120 cases. With fewer than 40 cases, a system that wins
    nearly all of them is rated too low (`tests/benchmarks/ratings.py`).
    """
    import numpy as np

    at = {system: index for index, system in enumerate(systems)}
    size, units = len(systems), {unit: index for index, unit in enumerate(dict.fromkeys(duel.unit for duel in duels))}
    wins = np.zeros((len(units), size, size))
    for one, other, value, unit in duels:
        wins[units[unit], at[one], at[other]] += value
        wins[units[unit], at[other], at[one]] += 1 - value
    flat = wins.reshape(len(units), -1)
    whole = flat.sum(axis=0).reshape(1, size, size)
    met = (whole[0] + whole[0].T > 0) / 2
    points = _points(whole + met)[0]
    tables: list[Numbers] = []
    if len(units) > 1:
        flat = np.concatenate([flat, np.eye(size * size)[met.ravel() > 0]])
        n, generator = len(flat), np.random.default_rng(0)
        step = max(1, BATCH // n)
        for begin in range(0, RESAMPLES, step):
            draws = generator.multinomial(n, np.full(n, 1 / n), size=min(step, RESAMPLES - begin))
            tables.append(_points((draws @ flat).reshape(-1, size, size) + met))
    resampled = np.concatenate(tables) if tables else None
    return [_duel_record(system, duels, float(points[index]), resampled, index) for index, system in enumerate(systems)]


def contrasts_of_duels(duels: Sequence[Duel], pairs: Iterable[tuple[str, str]], alpha: float) -> tuple[Contrast, ...]:
    """Compare pairs of systems by their duels; the tests are decided together with Holm's correction.

    In each contrast, ``difference`` is the share of duels won minus the share lost.
    """
    chosen = list(pairs)
    raw = [_contrast(duels, one, other, alpha, len(chosen)) for one, other in chosen]
    adjusted = holm([each.p_value for each in raw])
    return tuple(
        replace(each, p_adjusted=p, separable=p is not None and p <= alpha)
        for each, p in zip(raw, adjusted, strict=True)
    )


def _contrast(duels: Sequence[Duel], one: str, other: str, alpha: float, n: int) -> Contrast:
    results = [(duel.value, duel.unit) for duel in duels if (duel.one, duel.other) == (one, other)]
    results += [(1 - duel.value, duel.unit) for duel in duels if (duel.one, duel.other) == (other, one)]
    values = [value for value, _ in results]
    test = paired_test(
        [1 - value for value in values], values, alpha=alpha, cells=n, units=[unit for _, unit in results]
    )
    least = test.at_level(alpha / 2 / n).least_drop if results else None  # the test is two-sided
    return contrast_of(one, other, test, least)


def _duel_record(
    system: str, duels: Iterable[Duel], points: float, resampled: Numbers | None, index: int
) -> DuelRecord:
    import numpy as np

    values = [duel.value if duel.one == system else 1 - duel.value for duel in duels if system in duel[:2]]
    won, lost = (sum(sign * (value - 0.5) > ROUNDING for value in values) for sign in (1, -1))
    if not values:
        return DuelRecord(system, 0, 0, 0, None, None)
    interval = None
    if resampled is not None:
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(resampled[:, index], (tail, 1 - tail))
        interval = (min(points, float(low)), max(points, float(high)))
    return DuelRecord(system, won, len(values) - won - lost, lost, fmean(values), points, interval)


def _points(wins: Numbers) -> Numbers:
    """Return the rating of each system for each table of wins; a system without duels gets the mean rating."""
    import numpy as np

    size = wins.shape[1]
    total, games = wins.sum(axis=2), wins + wins.transpose(0, 2, 1)
    logs = np.zeros((len(wins), size))
    for _ in range(MAX_STEPS):
        strength = np.exp(logs)
        expected = (games / (strength[:, :, None] + strength[:, None, :])).sum(axis=2)
        fitted = np.where(total > 0, total, 1.0) / np.where(total > 0, expected, 1.0)
        new = np.log(np.where(total > 0, fitted, 1.0))
        new -= new.mean(axis=1, keepdims=True)
        change = float(np.abs(new - logs).max())
        logs = new
        if change < TOLERANCE:
            break
    points: Numbers = MIDDLE + POINTS * logs / np.log(10)
    return points
