"""The best system in the summary, and the systems that are not separable from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_rageval.analysis.systems.contrasts import Best, Contrast
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.sections.systems import AXES, boards_of
from pytest_rageval.report.text.lines import Line, few_of, number
from pytest_rageval.report.text.tables import ABSENT

__all__ = ["MATCHING", "BestSystem", "best_table", "p_text"]

FEW = 5
"""Systems that a line lists."""


@dataclass(frozen=True, slots=True)
class BestSystem:
    """The best system of a scope in the summary.

    Attributes:
        metric: the primary metric of some testbeds.
        alpha: the level of the paired tests.
        best: the best system there, and it against each other one.
        best_of_n: the mean of the best score of each case over all systems, for the scope of all cases with three
            systems or more; None elsewhere.
        n: number of the cases of ``best_of_n``.
    """

    metric: str
    alpha: float
    best: Best
    best_of_n: float | None = None
    n: int = 0


def _compute(run: Run) -> list[BestSystem]:
    """Return the best system of all cases, and of each axis; nothing for one system."""
    rows: list[BestSystem] = []
    boards = boards_of(run)
    if not boards:
        return rows
    from pytest_rageval.analysis.systems.best_of import best_of
    from pytest_rageval.analysis.systems.matching import ALL, bests

    for board in boards:
        choice = best_of(board) if len(board.candidates) > 2 else None
        for best in bests(board, run.plan.alpha, (), AXES):
            row = BestSystem(board.metric, run.plan.alpha, best)
            if choice is not None and best.scope == ALL:
                row = replace(row, best_of_n=choice.mean, n=choice.n)
            rows.append(row)
    return rows


def _tables(rows: Sequence[BestSystem], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    for metric in dict.fromkeys(row.metric for row in rows):
        mine = [row for row in rows if row.metric == metric]
        notes = [
            Line(f"the best score of each case over all systems: {number(row.best_of_n)} (n {row.n})")
            for row in mine
            if row.best_of_n is not None
        ]
        table = best_table(metric, [row.best for row in mine], mine[0].alpha)
        yield table._replace(notes=[*table.notes, *notes])


def best_table(metric: str, rows: Sequence[Best], alpha: float) -> Table:
    """Return a table of the best system of each scope, with the other systems below it.

    A system that is not separable from the best has in brackets the smallest difference that the test would find; a
    separable one its adjusted p-value.
    """
    columns = [
        ["of", *(each.scope for each in rows)],
        ["best", *(each.system for each in rows)],
        ["mean", *(number(each.mean) for each in rows)],
        ["separable from", *(f"{len(each.separable)} of {len(each.others)}" for each in rows)],
    ]
    notes = [Line(text) for each in rows for text in _notes(each)]
    return Table(f"best system by {metric} - paired tests, Holm, alpha {alpha:g}", columns, notes)


def _notes(best: Best) -> Iterator[str]:
    alike = [f"{each.other} (detectable {_least(each)})" for each in best.not_separable]
    worse = [f"{each.other} (p {p_text(each.p_adjusted)})" for each in best.separable]
    if alike:
        yield f"{best.scope}: not separable from {best.system}: {few_of(tuple(alike), FEW)}"
    if worse:
        yield f"{best.scope}: {best.system} is better than {few_of(tuple(worse), FEW)}"


def p_text(value: float | None) -> str:
    """Return a p-value to two digits."""
    return ABSENT if value is None else f"{value:.2g}"


def _least(contrast: Contrast) -> str:
    return "none" if contrast.least is None else number(round(contrast.least, 3))


MATCHING = Section("matching", BestSystem, lambda run: run.once("matching", _compute), _tables)
