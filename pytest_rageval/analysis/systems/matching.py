"""Find which system suits which task: grid, axes, ranks, best system, fit, best of n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.systems.best_of import BestOf, best_of, best_pairs
from pytest_rageval.analysis.systems.board import NO_VALUE, Board, Key
from pytest_rageval.analysis.systems.contrasts import Best, Contrast, best_of_scope, contrasts
from pytest_rageval.analysis.systems.fit import Fit, fit_of
from pytest_rageval.analysis.systems.grid import Grid, axes_of, grid_of
from pytest_rageval.analysis.systems.ranks import Ties, ranks
from pytest_rageval.model.facets import OF_SYSTEMS, place_text

__all__ = ["ALL", "Axis", "Matching", "bests", "matching_of", "ranks_of"]

ALL = "all"
"""The name of the scope with all cases and systems."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One combination of values of the axes' facets.

    Attributes:
        where: the facets and their values.
        cells: system -> its metric on this axis; no key if the system did not run there.
    """

    where: Mapping[str, str]
    cells: Mapping[str, Cell]

    @property
    def name(self) -> str:
        """The values of its facets, such as ``wiki knowledge_seeking``."""
        return " ".join(self.where.values())


@dataclass(frozen=True, slots=True)
class Matching:
    """The comparison of several systems over the same cases.

    Attributes:
        board: the scores of the systems.
        alpha: the level of the paired tests.
        overall: system -> its metric over all cases.
        grid: the metric by two facets.
        axes: the metric by system on each axis.
        base: the system by whose values the values on the axes are divided; "" for none.
        ranks: scope -> system -> rank; None if the system did not run on the whole scope.
        best: the best system of each scope with two or more systems.
        pairs: the contrast of each pair of systems over all cases.
        fit: the effects of the largest complete part of the grid; None without such a part.
        best_of: the best of n of all systems; None without a case that all systems scored.
        best_pairs: the best of two for each pair of systems, the largest gain first.
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
        """Return a system's mean on an axis, divided by the mean of the base system if there is one.

        Return None if a mean is missing, or if the mean of the base system is 0.
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
        base: the system by whose values the values on the axes are divided; "" for none.
        ties: how equal values are ranked.
    """
    grid = grid_of(board, *facets)
    axis_values = tuple(_axis(board, where) for where in axes_of(board, axes))
    return Matching(
        board=board,
        alpha=alpha,
        overall={each.name: cell for each in board.candidates if (cell := board.cell(each.name)) is not None},
        grid=grid,
        axes=axis_values,
        base=base,
        ranks=ranks_of(board, axes, ties),
        best=tuple(bests(board, alpha, (grid.row_facet, grid.col_facet), axes)),
        pairs=contrasts(board, None, list(board.facets), alpha),
        fit=fit_of(board, grid),
        best_of=best_of(board),
        best_pairs=tuple(best_pairs(board)),
    )


def bests(board: Board, alpha: float, facets: Sequence[str], axes: Sequence[str]) -> Iterator[Best]:
    """Yield the best system of each scope with two or more systems: all, each value of ``facets``, and each axis."""
    for scope, systems, cases in _scopes(board, facets, axes):
        best = best_of_scope(board, scope, systems, cases, alpha)
        if best is not None:
            yield best


def ranks_of(board: Board, axes: Sequence[str], ties: Ties) -> dict[str, dict[str, float | None]]:
    """Return scope -> system -> rank, for all cases, each value of the axes' first facet, and each axis.

    The tasks of a scope are the combinations of testbed and axis in which some system has a score. A system has a rank
    if it has a score in every task of the scope.
    """
    scopes: dict[str, list[Key]] = {ALL: list(board.facets)}
    for facets in [axes[:1], axes] if len(axes) > 1 else [axes]:
        scopes |= {place_text(where): board.cases(where) for where in axes_of(board, facets)}
    rank_of = {}
    for scope, cases in scopes.items():
        tasks = {key: (key[0], *(board.facets[key].get(axis, NO_VALUE) for axis in axes)) for key in cases}
        scored_tasks = {name: {tasks[key] for key in cases if key in scores} for name, scores in board.scores.items()}
        all_tasks = set().union(*scored_tasks.values())
        in_scope = set(cases)
        means = {
            name: sum(value for key, value in scores.items() if key in in_scope)
            / sum(key in in_scope for key in scores)
            if all_tasks and scored_tasks[name] == all_tasks
            else None
            for name, scores in board.scores.items()
        }
        rank_of[scope] = ranks(means, higher_is_better=board.info.higher_is_better, ties=ties)
    return rank_of


def _axis(board: Board, where: Mapping[str, str]) -> Axis:
    cells = {}
    for candidate in board.candidates:
        cell = board.cell(candidate.name, lambda outcome: where.items() <= outcome.facets.items())
        if cell is not None:
            cells[candidate.name] = cell
    return Axis(where, cells)


def _scopes(board: Board, facets: Sequence[str], axes: Sequence[str]) -> Iterator[tuple[str, list[str], list[Key]]]:
    """Yield (scope, systems, cases) for all cases, each value of a facet of systems or cases, and each axis."""
    names = [candidate.name for candidate in board.candidates]
    all_cases = list(board.facets)
    yield ALL, names, all_cases
    seen = {frozenset(names)}
    for facet in dict.fromkeys(facets):
        if facet not in OF_SYSTEMS:
            for where in axes_of(board, [facet]):
                yield place_text(where), names, board.cases(where)
            continue
        for value in dict.fromkeys(candidate.value(facet) for candidate in board.candidates):
            with_value = [candidate.name for candidate in board.candidates if candidate.value(facet) == value]
            if frozenset(with_value) not in seen:  # a value that all systems share is the scope of all
                yield f"{facet}={value}", with_value, all_cases
    for where in axes_of(board, axes):
        cases = board.cases(where)
        if len(cases) < len(all_cases) and (len(axes) > 1 or axes[0] not in facets):
            yield place_text(where), names, cases
