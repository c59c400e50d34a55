"""Which system suits which task: grid, axes, ranks, best or not separable, fit, best of n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.systems.best_of import BestOf, best_of, best_pairs
from pytest_rageval.analysis.systems.board import NO_VALUE, Board, Key
from pytest_rageval.analysis.systems.fit import Fit, fit_of
from pytest_rageval.analysis.systems.grid import Grid, axes_of, grid_of
from pytest_rageval.analysis.systems.ranks import Ties, ranks
from pytest_rageval.analysis.systems.separable import Best, Contrast, best_of_scope, contrasts
from pytest_rageval.model.facets import OF_SYSTEMS, place_text

__all__ = ["ALL", "Axis", "Matching", "bests", "matching_of", "ranks_of"]

ALL = "all"
"""The scope of all cases and systems."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One combination of the axes' facets.

    Attributes:
        where: the facets and their values.
        cells: system -> its metric there; no key where it did not run.
    """

    where: Mapping[str, str]
    cells: Mapping[str, Cell]

    @property
    def name(self) -> str:
        """Its values, such as ``wiki knowledge_seeking``."""
        return " ".join(self.where.values())


@dataclass(frozen=True, slots=True)
class Matching:
    """Several systems over the same cases.

    Attributes:
        board: their scores.
        alpha: the level of the paired tests.
        overall: system -> its metric over all cases.
        grid: the metric by two facets.
        axes: the metric by system on each axis.
        base: the system by whose values the axes are divided; "" for none.
        ranks: scope -> system -> rank; None where a system did not run on all of it.
        best: the best system of each scope with two systems or more.
        pairs: all pairs of systems over all cases.
        fit: the effects of the largest complete part of the grid; None if there is none.
        best_of: the best of all systems for each case; None without a case that all scored.
        best_pairs: the same for each pair, the largest gain first.
    """

    board: Board
    alpha: float
    overall: Mapping[str, Cell]
    grid: Grid
    axes: tuple[Axis, ...]
    base: str
    ranks: Mapping[str, Mapping[str, float | None]]
    best: tuple[Best, ...]
    pairs: tuple[Contrast, ...]
    fit: Fit | None
    best_of: BestOf | None
    best_pairs: tuple[BestOf, ...]

    def on_axis(self, axis: Axis, system: str) -> float | None:
        """Return a system's mean on an axis, divided by the base's if there is one.

        None if either is missing, or if the base's is 0.
        """
        cell = axis.cells.get(system)
        if cell is None or cell.mean is None:
            return None
        if not self.base:
            return cell.mean
        base = axis.cells.get(self.base)
        return cell.mean / base.mean if base is not None and base.mean else None


def matching_of(
    board: Board,
    *,
    alpha: float,
    facets: tuple[str, str],
    axes: Sequence[str],
    base: str = "",
    ties: Ties = "average",
) -> Matching:
    """Return the comparison of a board's systems.

    Args:
        board: the scores.
        alpha: the level of the paired tests.
        facets: the facets of the grid's rows and columns.
        axes: the facets of the axes.
        base: the system by whose values the axes are divided; "" for none.
        ties: how equal values are ranked.
    """
    grid = grid_of(board, *facets)
    measured = tuple(_axis(board, where) for where in axes_of(board, axes))
    return Matching(
        board=board,
        alpha=alpha,
        overall={each.name: cell for each in board.candidates if (cell := board.cell(each.name)) is not None},
        grid=grid,
        axes=measured,
        base=base,
        ranks=ranks_of(board, axes, ties),
        best=tuple(bests(board, alpha, (grid.row_facet, grid.col_facet), axes)),
        pairs=contrasts(board, None, list(board.facets), alpha),
        fit=fit_of(board, grid),
        best_of=best_of(board),
        best_pairs=tuple(best_pairs(board)),
    )


def bests(board: Board, alpha: float, facets: Sequence[str], axes: Sequence[str]) -> Iterator[Best]:
    """Yield the best system overall, of each value of ``facets`` and of each axis, where two systems or more ran."""
    for scope, systems, cases in _scopes(board, facets, axes):
        best = best_of_scope(board, scope, systems, cases, alpha)
        if best is not None:
            yield best


def ranks_of(board: Board, axes: Sequence[str], ties: Ties) -> dict[str, dict[str, float | None]]:
    """Return the ranks overall, by the first facet of the axes, and by axis.

    A system has a rank in a scope if it has a score on each of its tasks: each testbed and axis that some system has a
    score on.
    """
    scopes: dict[str, list[Key]] = {ALL: list(board.facets)}
    for facets in [axes[:1], axes] if len(axes) > 1 else [axes]:
        scopes |= {place_text(where): board.cases(where) for where in axes_of(board, facets)}
    found = {}
    for scope, cases in scopes.items():
        tasks = {key: (key[0], *(board.facets[key].get(axis, NO_VALUE) for axis in axes)) for key in cases}
        done = {name: {tasks[key] for key in cases if key in scores} for name, scores in board.scores.items()}
        wanted = set().union(*done.values())
        among = set(cases)
        means = {
            name: sum(value for key, value in scores.items() if key in among) / sum(key in among for key in scores)
            if wanted and done[name] == wanted
            else None
            for name, scores in board.scores.items()
        }
        found[scope] = ranks(means, higher_is_better=board.info.higher_is_better, ties=ties)
    return found


def _axis(board: Board, where: Mapping[str, str]) -> Axis:
    cells = {}
    for candidate in board.candidates:
        cell = board.cell(candidate.name, lambda outcome: where.items() <= outcome.facets.items())
        if cell is not None:
            cells[candidate.name] = cell
    return Axis(where, cells)


def _scopes(board: Board, facets: Sequence[str], axes: Sequence[str]) -> Iterator[tuple[str, list[str], list[Key]]]:
    """Yield (scope, systems, cases): all, each value of a facet of systems or cases, each axis."""
    names = [candidate.name for candidate in board.candidates]
    every = list(board.facets)
    yield ALL, names, every
    seen = {frozenset(names)}
    for facet in dict.fromkeys(facets):
        if facet not in OF_SYSTEMS:
            for where in axes_of(board, [facet]):
                yield place_text(where), names, board.cases(where)
            continue
        for value in dict.fromkeys(candidate.value(facet) for candidate in board.candidates):
            mine = [candidate.name for candidate in board.candidates if candidate.value(facet) == value]
            if frozenset(mine) not in seen:  # one row of all systems is no scope of its own
                yield f"{facet}={value}", mine, every
    for where in axes_of(board, axes):
        cases = board.cases(where)
        if len(cases) < len(every) and (len(axes) > 1 or axes[0] not in facets):
            yield place_text(where), names, cases
