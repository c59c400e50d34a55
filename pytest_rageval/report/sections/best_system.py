"""The section on the best system, and the systems that are not separable from it."""

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

__all__ = ["BEST_SYSTEM", "BestSystem", "best_table", "p_text"]

MAX_SYSTEMS = 5
"""Systems to list in a line."""


@dataclass(frozen=True, slots=True)
class BestSystem:
    """The best system of one scope: all cases, or one value of an axis.

    Attributes:
        metric: the primary metric of one or several testbeds.
        alpha: the level of the paired tests.
        best: the best system, and its contrast with each other system.
        best_of_n: take each case's best score over all systems; this is the mean of those scores. Only the scope of
            all cases with at least three systems has it; None for others.
        n: number of cases of ``best_of_n``.
    """

    metric: str
    alpha: float
    best: Best
    best_of_n: float | None = None
    n: int = 0


def _compute(run: Run) -> list[BestSystem]:
    """Return the best system of all cases and of each value of the axes; empty for a single system."""
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
        of_metric = [row for row in rows if row.metric == metric]
        notes = [
            Line(f"the best score of each case over all systems: {number(row.best_of_n)} (n {row.n})")
            for row in of_metric
            if row.best_of_n is not None
        ]
        table = best_table(metric, [row.best for row in of_metric], of_metric[0].alpha)
        yield table._replace(notes=[*table.notes, *notes])


def best_table(metric: str, rows: Sequence[Best], alpha: float) -> Table:
    """Return a table of the best system of each scope, with notes on the other systems.

    The notes show the smallest detectable difference of a system that is not separable from the best, and the adjusted
    p-value of a separable one.
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
    alike = [f"{each.other} (detectable {_smallest_difference(each)})" for each in best.not_separable]
    worse = [f"{each.other} (p {p_text(each.p_adjusted)})" for each in best.separable]
    if alike:
        yield f"{best.scope}: not separable from {best.system}: {few_of(tuple(alike), MAX_SYSTEMS)}"
    if worse:
        yield f"{best.scope}: {best.system} is better than {few_of(tuple(worse), MAX_SYSTEMS)}"


def p_text(value: float | None) -> str:
    """Return a p-value with two digits, or a dash."""
    return ABSENT if value is None else f"{value:.2g}"


def _smallest_difference(contrast: Contrast) -> str:
    return "none" if contrast.least is None else number(round(contrast.least, 3))


BEST_SYSTEM = Section("matching", BestSystem, lambda run: run.once("matching", _compute), _tables)
