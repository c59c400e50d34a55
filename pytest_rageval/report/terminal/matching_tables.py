"""Format which system suits which task, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.cells import Cell
from pytest_rageval.analysis.systems.best_of import BestOf
from pytest_rageval.analysis.systems.matching import Matching
from pytest_rageval.analysis.systems.ranks import ordinal
from pytest_rageval.report.sections.best_system import best_table, p_text
from pytest_rageval.report.sections.section import Table
from pytest_rageval.report.text.lines import Line, interval, number, signed
from pytest_rageval.report.text.tables import ABSENT, cell_text

__all__ = ["MAX_PAIRS", "axes_table", "grid_table", "matching_tables"]

MAX_PAIRS = 15
"""Pairs to print; JSON has all."""

NO_AVERAGE = "the averages over a row or column with – are withheld"


def matching_tables(matching: Matching, *, common: bool = False) -> Iterator[Table]:
    """Yield the tables of a comparison of systems by task.

    Args:
        matching: the comparison.
        common: whether the grid also has averages over the columns that every row has.
    """
    yield grid_table(matching, common=common)
    if matching.axes:
        yield axes_table(matching)
    yield _ranks(matching)
    yield best_table(matching.board.metric, matching.best, matching.alpha)
    if len(matching.pairs) <= MAX_PAIRS:
        yield _pairs(matching)
    if matching.fit is not None:
        yield _fit(matching)
    if matching.best_of is not None:
        yield _best_of(matching, matching.best_of)


def grid_table(matching: Matching, *, common: bool = False) -> Table:
    """Return the grid, with averages of its rows and columns."""
    grid, metric = matching.grid, matching.board.metric
    columns = [[f"{grid.row_facet} \\ {grid.col_facet}", *grid.rows]]
    for at, col in enumerate(grid.cols):
        columns.append([col, *(_with_interval(row[at], metric) for row in grid.cells)])
    if len(grid.cols) > 1:
        columns.append(["average", *map(_value_text, grid.row_averages)])
        if common:
            columns.append(["average of common", *map(_value_text, grid.common_averages)])
    if len(grid.rows) > 1:
        columns[0].append("average")
        for at, average in enumerate(grid.col_averages):
            columns[at + 1].append(_value_text(average))
        for column in columns[len(grid.cols) + 1 :]:
            column.append("")
    notes = [Line(NO_AVERAGE)] if None in (*grid.row_averages, *grid.col_averages) else []
    if common:
        notes.append(Line(f"common columns: {', '.join(grid.cols[at] for at in grid.common_cols) or 'none'}"))
    return Table(f"{metric} by {grid.row_facet} x {grid.col_facet} - mean (n) [95 %]", columns, notes)


def axes_table(matching: Matching) -> Table:
    """Return the mean of each system on each axis."""
    names = [each.name for each in matching.board.candidates]
    means = ([_value_text(matching.on_axis(axis, name)) for name in names] for axis in matching.axes)
    columns = [["system", *names], *([axis.name, *each] for axis, each in zip(matching.axes, means, strict=True))]
    divided = f", divided by {matching.base}'s" if matching.base else ""
    return Table(f"{matching.board.metric} by {' x '.join(matching.axes[0].where)}{divided}", columns)


def _ranks(matching: Matching) -> Table:
    candidates = matching.board.candidates
    names = [each.name for each in candidates]
    cells = [matching.overall.get(name) for name in names]
    columns = [
        ["system", *names],
        ["workflow", *(each.workflow for each in candidates)],
        ["model", *(each.model for each in candidates)],
        ["n", *(ABSENT if cell is None else str(cell.n) for cell in cells)],
        ["mean", *(ABSENT if cell is None else number(cell.mean) for cell in cells)],
        ["95 %", *(ABSENT if cell is None else interval(cell.ci95) for cell in cells)],
    ]
    for scope, ranks in matching.ranks.items():
        values = ", ".join(part.partition("=")[2] or part for part in scope.split(", "))
        columns.append([f"rank {values}" if scope != "all" else "rank", *(ordinal(ranks[name]) for name in names)])
    order = sorted(range(len(names)), key=lambda at: matching.ranks["all"][names[at]] or len(names) + 1)
    return Table("ranks", [[column[0], *(column[at + 1] for at in order)] for column in columns])


def _pairs(matching: Matching) -> Table:
    pairs = matching.pairs
    columns = [
        ["pair", *(f"{each.system} : {each.other}" for each in pairs)],
        ["n", *(str(each.n) for each in pairs)],
        ["won:lost", *(f"{each.won}:{each.lost}" for each in pairs)],
        ["difference", *(signed(each.difference) for each in pairs)],
        ["p", *(p_text(each.p_value) for each in pairs)],
        ["p (Holm)", *(p_text(each.p_adjusted) for each in pairs)],
        ["verdict", *("separable" if each.separable else "not separable" for each in pairs)],
    ]
    return Table("pairs - cases won and lost on the common cases, paired test", columns)


def _fit(matching: Matching) -> Table:
    fit, grid = matching.fit, matching.grid
    assert fit is not None  # noqa: S101 - matching_tables has checked it
    effects = fit.effects
    columns = [[f"{grid.row_facet} \\ {grid.col_facet}", *fit.rows]]
    for at, col in enumerate(fit.cols):
        columns.append([col, *(_effect(row[at], ci[at]) for row, ci in zip(effects.cells, fit.intervals, strict=True))])
    columns.append(["row", *(f"{each:+.3f}" for each in effects.rows)])
    cases = f"{fit.n} common cases" if fit.n else "own cases of each column, no intervals"
    cols = ", ".join(f"{name} {each:+.3f}" for name, each in zip(fit.cols, effects.cols, strict=True))
    notes = [Line(f"mean of all cells {effects.mean:.3f}; columns: {cols}; {cases}")]
    return Table("fit - how far a cell is above what its row and its column predict [95 %]", columns, notes)


def _best_of(matching: Matching, all_systems: BestOf) -> Table:
    choices: Sequence[BestOf] = [
        all_systems,
        *(pair for pair in matching.best_pairs[:1] if len(all_systems.systems) > 2),
    ]
    columns = [
        ["choice", *(_choice(each, all_systems) for each in choices)],
        ["n", *(str(each.n) for each in choices)],
        ["best of each case", *(number(each.mean) for each in choices)],
        ["best single", *(f"{each.best} {number(each.single)}" for each in choices)],
        ["gain", *(signed(each.gain) for each in choices)],
    ]
    return Table("best of n - mean of the best score of each case", columns)


def _choice(each: BestOf, all_systems: BestOf) -> str:
    return f"all {len(each.systems)}" if each is all_systems else f"pair that gains most: {' + '.join(each.systems)}"


def _effect(value: float, ci95: tuple[float, float] | None) -> str:
    return f"{value:+.3f}" + ("" if ci95 is None else f" [{ci95[0]:+.3f}, {ci95[1]:+.3f}]")


def _with_interval(cell: Cell | None, metric: str) -> str:
    text = cell_text(cell, metric)
    return f"{text} {interval(cell.ci95)}" if cell is not None and cell.ci95 is not None else text


def _value_text(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3f}"
