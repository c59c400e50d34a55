"""The section on three or more systems: by workflow and model, and on the axes of tasks."""

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

MIN_SYSTEMS = 3
"""Systems from which the summary has a grid; the matrices already compare two."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """One cell of a grid of systems.

    Attributes:
        metric: name of the metric.
        table: "grid" for workflows and models, "axes" for systems and axes of tasks.
        row: workflow or system of the cell.
        col: model or axis of the cell.
        system: name of the system.
        mean: mean of the metric; None if nothing was scored.
        n: number of scored outcomes.
        n_unscored: number of unscored outcomes.
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
        """The cell as a `Cell`, for functions that format cells."""
        return Cell(self.mean, self.n, self.n_unscored, self.ci95)


def _compute(run: Run) -> list[GridCell]:
    boards = (board for board in boards_of(run) if len(board.candidates) >= MIN_SYSTEMS)
    return [cell for board in boards for cell in (*_grid(board), *_axes(board))]


def _grid(board: Board) -> Iterator[GridCell]:
    """Yield the cells by workflow and model; nothing if they would form a single row or column."""
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
    """Yield the cells by system and axis; nothing if there is only one axis."""
    from pytest_rageval.analysis.systems.grid import axes_of

    axes = axes_of(board, AXES)
    if len(axes) < 2:
        return
    for candidate in board.candidates:
        for axis in axes:
            cell = board.cell(candidate.name, partial(_is_on, axis))
            if cell is not None:
                name, col = candidate.name, " ".join(axis.values())
                yield GridCell(board.metric, "axes", name, col, name, cell.mean, cell.n, cell.n_unscored, cell.ci95)


def _is_on(axis: Mapping[str, str], outcome: Outcome) -> bool:
    return axis.items() <= outcome.facets.items()


def _tables(rows: Sequence[GridCell], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    titles = {"grid": "workflow x model", "axes": "system x axis"}
    for metric, kind in dict.fromkeys((row.metric, row.table) for row in rows):
        cell_at = {(row.row, row.col): row.cell for row in rows if (row.metric, row.table) == (metric, kind)}
        names, cols = dict.fromkeys(row for row, _ in cell_at), dict.fromkeys(col for _, col in cell_at)
        head = titles[kind].replace(" x ", " \\ ")
        columns = [[head, *names]]
        for col in cols:
            cells = [cell_at.get((name, col)) for name in names]
            columns.append([col, *(ABSENT if cell is None else cell_text(cell, metric) for cell in cells)])
        yield Table(f"{metric} by {titles[kind]} - mean (n); – did not run", columns)


GRID = Section("grid", GridCell, lambda run: run.once("grid", _compute), _tables)
