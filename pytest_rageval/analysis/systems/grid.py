"""Tabulate systems: a metric over two facets, without averaging over systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from pytest_rageval.analysis.cells import Cell, cell_of
from pytest_rageval.analysis.matrix import macro_average
from pytest_rageval.analysis.systems.board import NO_VALUE, Board
from pytest_rageval.errors import SettingError
from pytest_rageval.model.facets import LEVELS, OF_SYSTEMS, SYSTEM, sort_key
from pytest_rageval.model.outcome import Outcome

__all__ = ["Grid", "axes_of", "complete_subgrid", "grid_of", "grid_over"]

MAX_ROWS = 14
"""Maximum number of rows (or of columns, if fewer) whose subsets are all tried as a complete subgrid."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A metric over two facets. Each cell belongs to one system.

    Attributes:
        row_facet, col_facet: the facets.
        rows, cols: the values of the facets; those of systems in the order of the systems, those of cases sorted.
        cells: ``cells[row][col]``; None if no system ran there.
        systems: ``systems[row][col]``, the name of the system of a cell; "" without one.
    """

    row_facet: str
    col_facet: str
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    systems: tuple[tuple[str, ...], ...]

    @property
    def means(self) -> list[list[float | None]]:
        """The mean of each cell; None without a case or a scored case."""
        return [[None if cell is None else cell.mean for cell in row] for row in self.cells]

    @property
    def row_averages(self) -> list[float | None]:
        """The mean of each row's cells; None if one is missing."""
        return [macro_average(row) for row in self.cells]

    @property
    def col_averages(self) -> list[float | None]:
        """The mean of each column's cells; None if one is missing."""
        return [macro_average([row[at] for row in self.cells]) for at in range(len(self.cols))]

    @property
    def common_cols(self) -> list[int]:
        """The columns without a missing cell."""
        means = self.means
        return [at for at in range(len(self.cols)) if all(row[at] is not None for row in means)]

    @property
    def common_averages(self) -> list[float | None]:
        """The mean of each row over the `common_cols`; None without such a column."""
        return [macro_average([row[at] for at in self.common_cols]) for row in self.cells]


def grid_of(board: Board, row_facet: str, col_facet: str) -> Grid:
    """Return the grid of two facets.

    Systems are never averaged. If a cell would contain several systems, the facet of systems (workflow or model) is
    replaced by ``system``.

    Raises:
        SettingError: neither facet distinguishes the systems.
    """
    facets = row_facet, col_facet
    if not {*facets}.intersection(OF_SYSTEMS):
        raise SettingError(
            f"the rows are {row_facet} and the columns {col_facet}, and a cell would average systems; give "
            "--rows or --cols system, workflow or model"
        )
    if _is_ambiguous(board, facets):
        facets = (SYSTEM, col_facet) if row_facet in OF_SYSTEMS else (row_facet, SYSTEM)
    return grid_over(board, *facets)


def grid_over(board: Board, row_facet: str, col_facet: str) -> Grid:
    """Return the grid of two facets that distinguish the systems."""
    groups: dict[tuple[str, str], tuple[str, list[Outcome]]] = {}
    for candidate in board.candidates:
        for outcome in board.outcomes[candidate.name]:
            place = tuple(
                candidate.value(facet) if facet in OF_SYSTEMS else outcome.facets.get(facet, NO_VALUE)
                for facet in (row_facet, col_facet)
            )
            groups.setdefault((place[0], place[1]), (candidate.name, []))[1].append(outcome)
    rows = _ordered([row for row, _ in groups], row_facet)
    cols = _ordered([col for _, col in groups], col_facet)
    cells = tuple(
        tuple(
            cell_of(board.metric, board.info.binary, groups[row, col][1]) if (row, col) in groups else None
            for col in cols
        )
        for row in rows
    )
    systems = tuple(tuple(groups.get((row, col), ("", []))[0] for col in cols) for row in rows)
    return Grid(row_facet, col_facet, tuple(rows), tuple(cols), cells, systems)


def axes_of(board: Board, facets: Sequence[str]) -> list[dict[str, str]]:
    """Return the axes, sorted: each combination of values of these facets that occurs in a case.

    A case that lacks one of the facets belongs to no axis.
    """
    places = {
        tuple(each[facet] for facet in facets)
        for each in board.facets.values()
        if facets and all(facet in each for facet in facets)
    }
    ordered = sorted(places, key=lambda place: tuple(map(_axis_key, place)))
    return [dict(zip(facets, place, strict=True)) for place in ordered]


def complete_subgrid(filled: Sequence[Sequence[bool]]) -> tuple[list[int], list[int]]:
    """Return the rows and columns of the largest complete subgrid.

    The subgrid has two or more rows and columns, and the most cells; of equal ones the first is returned. Without such
    a subgrid, return ([], []).
    """
    n_rows, n_cols = len(filled), len(filled[0]) if filled else 0
    if n_cols < n_rows:
        transposed = complete_subgrid([[row[at] for row in filled] for at in range(n_cols)])
        return transposed[1], transposed[0]
    if n_rows > MAX_ROWS:
        return [], []
    best: tuple[list[int], list[int]] = [], []
    for size in range(2, n_rows + 1):
        for rows in combinations(range(n_rows), size):
            cols = [at for at in range(n_cols) if all(filled[row][at] for row in rows)]
            if len(cols) >= 2 and size * len(cols) > len(best[0]) * len(best[1]):
                best = list(rows), cols
    return best


def _is_ambiguous(board: Board, facets: tuple[str, str]) -> bool:
    """Return whether two systems have the same values in all facets of systems among ``facets``."""
    of_systems = [facet for facet in facets if facet in OF_SYSTEMS]
    places = [tuple(candidate.value(facet) for facet in of_systems) for candidate in board.candidates]
    return len(set(places)) < len(places)


def _ordered(values: Sequence[str], facet: str) -> list[str]:
    unique = dict.fromkeys(values)
    return list(unique) if facet in OF_SYSTEMS else sorted(unique, key=sort_key)


def _axis_key(value: str) -> tuple[object, ...]:
    """Return a key that sorts R-Eval's levels from knowledge seeking to application."""
    return (0, LEVELS.index(value)) if value in LEVELS else (1, *sort_key(value))
