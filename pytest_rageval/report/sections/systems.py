"""The section on several systems: quality, rank, time, calls and cost of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Section, Table
from pytest_rageval.report.text.lines import dollars, interval, number
from pytest_rageval.report.text.tables import ABSENT

if TYPE_CHECKING:
    from pytest_rageval.analysis.systems.board import Board

__all__ = ["AXES", "SYSTEMS", "SystemRow", "boards_of"]

AXES = ("domain", "level")
"""The facets that split tasks into axes, as in R-Eval."""


@dataclass(frozen=True, slots=True)
class SystemRow:
    """The quality and cost of one system by a primary metric.

    Attributes:
        metric: name of the metric.
        system: name of the system.
        workflow: name of its workflow, such as ``react``.
        model: name of its model; "" if it has none or it is unknown.
        n: number of scored outcomes.
        mean: the metric's mean; None if nothing was scored.
        ci95: the 95 % interval of the mean.
        rank: rank by the mean, 1 for the best; None if it did not run on all tasks.
        p50_s: median seconds of an answer; None if no time was measured.
        p95_s: 95 % quantile of the seconds of an answer.
        model_calls: mean number of model calls of an answer; None without a trace.
        tool_calls: mean number of tool calls of an answer; None without a trace.
        cost_usd: mean cost of an answer; None if unknown.
        front: whether the system is on the Pareto front of quality, time and cost; None without a mean.
    """

    metric: str
    system: str
    workflow: str
    model: str
    n: int
    mean: float | None
    ci95: Interval | None
    rank: float | None
    p50_s: float | None
    p95_s: float | None
    model_calls: float | None
    tool_calls: float | None
    cost_usd: float | None
    front: bool | None


def boards_of(run: Run) -> list[Board]:
    """Return the board of each primary metric: the scores of all systems. Empty for a single system."""
    return run.once("boards", _boards)


def _boards(run: Run) -> list[Board]:
    outcomes = run.of_systems()
    if len({outcome.system for outcome in outcomes}) < 2:
        return []
    from pytest_rageval.analysis.systems.board import board_of

    by_metric: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        testbed = run.plan.testbeds.get(outcome.testbed)
        if testbed is not None:
            by_metric.setdefault(testbed.primary, []).append(outcome)
    boards = (
        board_of(group, metric, run.plan.metrics.get(metric, MetricInfo())) for metric, group in by_metric.items()
    )
    return [board for board in boards if len(board.candidates) > 1]


def _compute(run: Run) -> list[SystemRow]:
    scored = (board for board in boards_of(run) if any(board.scores.values()))
    return [row for board in scored for row in _rows(board)]


def _rows(board: Board) -> Iterator[SystemRow]:
    from pytest_rageval.analysis.systems.board import NO_VALUE
    from pytest_rageval.analysis.systems.costs import system_costs
    from pytest_rageval.analysis.systems.matching import ALL, ranks_of

    ranks = ranks_of(board, AXES, "average")[ALL]
    rows = system_costs(board)
    for row in sorted(rows, key=lambda row: ranks[row.system.name] or len(rows) + 1):
        system, cell = row.system, row.quality
        yield SystemRow(
            metric=board.metric,
            system=system.name,
            workflow=system.workflow,
            model="" if system.model == NO_VALUE else system.model,
            n=0 if cell is None else cell.n,
            mean=None if cell is None else cell.mean,
            ci95=None if cell is None else cell.ci95,
            rank=ranks[system.name],
            p50_s=row.p50_s,
            p95_s=row.p95_s,
            model_calls=row.model_calls,
            tool_calls=row.tool_calls,
            cost_usd=row.cost_usd,
            front=row.front,
        )


def _tables(rows: Sequence[SystemRow], testbeds: Mapping[str, TestbedPlan]) -> Iterator[Table]:
    """Yield a table for each metric; columns without a value are left out."""
    from pytest_rageval.analysis.systems.ranks import ordinal

    for metric in dict.fromkeys(row.metric for row in rows):
        of_metric = [row for row in rows if row.metric == metric]
        columns = [
            ["system", *(row.system for row in of_metric)],
            ["workflow", *(row.workflow for row in of_metric)],
            ["model", *(row.model or ABSENT for row in of_metric)],
            ["rank", *(ordinal(row.rank) for row in of_metric)],
            [metric, *(number(row.mean) for row in of_metric)],
            ["95 %", *(interval(row.ci95) for row in of_metric)],
            ["n", *(str(row.n) for row in of_metric)],
            ["p50 s", *(_seconds(row.p50_s) for row in of_metric)],
            ["p95 s", *(_seconds(row.p95_s) for row in of_metric)],
            ["model calls", *(number(row.model_calls) for row in of_metric)],
            ["tool calls", *(number(row.tool_calls) for row in of_metric)],
            ["cost", *(ABSENT if row.cost_usd is None else dollars(row.cost_usd) for row in of_metric)],
            ["front", *({True: "yes", False: "", None: ABSENT}[row.front] for row in of_metric)],
        ]
        if all(row.workflow == row.system for row in of_metric):  # the column would repeat the names of the systems
            del columns[1]
        if all(row.p50_s is None and row.cost_usd is None for row in of_metric):
            del columns[-1]  # without time and cost, the front repeats the rank
        filled = [column for column in columns if set(column[1:]) != {ABSENT}]
        yield Table(f"systems by {metric} - seconds, calls and cost are of one answer", filled)


def _seconds(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2g}"


SYSTEMS = Section("systems", SystemRow, lambda run: run.once("systems", _compute), _tables, verbosity=0)
