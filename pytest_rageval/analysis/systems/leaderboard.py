"""Rank several systems on a leaderboard: by a metric, or by duels that a judge decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.systems.board import Board
from pytest_rageval.analysis.systems.contrasts import Contrast, best_of_scope
from pytest_rageval.analysis.systems.duels import Duel, DuelRecord, contrasts_of_duels, duels_of_board, ratings
from pytest_rageval.analysis.systems.matching import ALL
from pytest_rageval.analysis.systems.ranks import ranks

__all__ = ["Leaderboard", "Place", "leaderboard_of_board", "leaderboard_of_duels"]


@dataclass(frozen=True, slots=True)
class Place:
    """A system on a leaderboard.

    Attributes:
        rank: its rank, from 1; equal values share their mean rank. None without a value.
        record: the results of its duels, and its rating.
        cell: its metric over all cases; None on a leaderboard of duels.
        behind: contrast of the best system with it; None for the best system, or without a common case.
    """

    rank: float | None
    record: DuelRecord
    cell: Cell | None = None
    behind: Contrast | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Systems in the order of their ranks, the best first.

    Attributes:
        by: the metric or the judge that ranks them.
        alpha: the level of the paired tests, decided together with Holm's correction.
        places: the place of each system.
    """

    by: str
    alpha: float
    places: tuple[Place, ...]

    @property
    def not_separable(self) -> list[str]:
        """The systems whose difference from the best system is not significant."""
        return [each.record.system for each in self.places if each.behind is not None and not each.behind.separable]


def leaderboard_of_board(board: Board, alpha: float) -> Leaderboard:
    """Return the systems ranked by the mean of a metric; each case on which two systems have a score is a duel."""
    names = [candidate.name for candidate in board.candidates]
    cells = {name: board.cell(name) for name in names}
    means = {name: None if cell is None else cell.mean for name, cell in cells.items()}
    best = best_of_scope(board, ALL, names, list(board.facets), alpha)
    behind = {} if best is None else {each.other: each for each in best.others}
    records = {each.system: each for each in ratings(duels_of_board(board), names)}
    rank_of = ranks(means, higher_is_better=board.info.higher_is_better)
    places = [Place(rank_of[name], records[name], cells[name], behind.get(name)) for name in names]
    return Leaderboard(board.metric, alpha, _sorted(places))


def leaderboard_of_duels(duels: Sequence[Duel], systems: Sequence[str], judge: str, alpha: float) -> Leaderboard:
    """Return the systems ranked by their ratings."""
    records = {each.system: each for each in ratings(duels, systems)}
    rank_of = ranks({name: each.rating for name, each in records.items()})
    known = [name for name in systems if records[name].rating is not None]
    best = min(known, key=lambda name: (rank_of[name] or 0.0, systems.index(name)), default=None)
    pairs = [(best, name) for name in known if best is not None and name != best]
    behind = {each.other: each for each in contrasts_of_duels(duels, pairs, alpha) if each.n}
    places = [Place(rank_of[name], records[name], None, behind.get(name)) for name in systems]
    return Leaderboard(judge, alpha, _sorted(places))


def _sorted(places: Sequence[Place]) -> tuple[Place, ...]:
    return tuple(sorted(places, key=lambda place: (place.rank is None, place.rank or 0.0)))
