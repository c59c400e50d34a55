"""Three systems or more by workflow and model, and on R-Eval's axes, in the summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.model.facets import MODEL, SYSTEM, WORKFLOW
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.sections.systems import AXES, boards_of
from pytest_rageval.report.text.tables import ABSENT, cell_text

if TYPE_CHECKING:
    from pytest_rageval.analysis.systems.board import Board

__all__ = ["GRID", "GridCell"]

LEAST = 3
"""Two systems have their matrices and the difference between them; more have a grid."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """One cell of a grid of systems.

    Attributes:
        metric: the metric.
        table: "grid" for workflows and models, "axes" for systems and axes of tasks.
        row: its workflow or system.
        col: its model or axis.
        system: the system.
        mean: the metric's mean; None if nothing was scored.
        n: number of scored outcomes.
        n_unscored: number of the others.
        ci95: the 95 % interval of the mean.
    """

    metric: str
    table: Literal["grid", "axes"]
    row: str
    col: str
    system: str
    mean: float | None
    n: int
    n_unscored: int
    ci95: Interval | None

    @property
    def cell(self) -> Cell:
        """The cell as other tables have it."""
        return Cell(self.mean, self.n, self.n_unscored, self.ci95)


def _compute(run: Run) -> list[GridCell]:
    boards = (board for board in boards_of(run) if len(board.candidates) >= LEAST)
    return [cell for board in boards for cell in (*_grid(board), *_axes(board))]


def _grid(board: Board) -> Iterator[GridCell]:
    """Yield the cells by workflow and model; nothing if no row or no column has several, so that it is only a list."""
    from pytest_rageval.analysis.systems.grid import grid_of

    grid = grid_of(board, WORKFLOW, MODEL)
    filled = sum(cell is not None for row in grid.cells for cell in row)
    if SYSTEM in (grid.row_facet, grid.col_facet) or filled <= max(len(grid.rows), len(grid.cols)):
        return
    for row, cells, systems in zip(grid.rows, grid.cells, grid.systems, strict=True):
        for col, cell, system in zip(grid.cols, cells, systems, strict=True):
            if cell is not None:
                yield GridCell(board.metric, "grid", row, col, system, cell.mean, cell.n, cell.n_unscored, cell.ci95)


def _axes(board: Board) -> Iterator[GridCell]:
    """Yield the cells by system and axis; nothing for one axis."""
    from pytest_rageval.analysis.systems.grid import axes_of

    axes = axes_of(board, AXES)
    if len(axes) < 2:
        return
    for candidate in board.candidates:
        for where in axes:
            cell = board.cell(candidate.name, partial(_is_on, where))
            if cell is not None:
                name, col = candidate.name, " ".join(where.values())
                yield GridCell(board.metric, "axes", name, col, name, cell.mean, cell.n, cell.n_unscored, cell.ci95)


def _is_on(where: Mapping[str, str], outcome: Outcome) -> bool:
    return where.items() <= outcome.facets.items()


def _tables(rows: Sequence[GridCell], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    titles = {"grid": "workflow x model", "axes": "system x axis"}
    for metric, kind in dict.fromkeys((row.metric, row.table) for row in rows):
        mine = {(row.row, row.col): row.cell for row in rows if (row.metric, row.table) == (metric, kind)}
        names, cols = dict.fromkeys(row for row, _ in mine), dict.fromkeys(col for _, col in mine)
        head = titles[kind].replace(" x ", " \\ ")
        columns = [[head, *names]]
        for col in cols:
            cells = [mine.get((name, col)) for name in names]
            columns.append([col, *(ABSENT if cell is None else cell_text(cell, metric) for cell in cells)])
        yield Table(f"{metric} by {titles[kind]} - mean (n); – did not run", columns)


GRID = Section("grid", GridCell, lambda run: run.once("grid", _compute), _tables)
