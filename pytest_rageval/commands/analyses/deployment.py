"""``rageval analyze deployment``: compare the quality of systems with their time and cost."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rageval.analysis.systems.board import Board
    from pytest_rageval.analysis.systems.costs import SystemCosts

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to"]

DESCRIPTION = """\
Show for each system its quality, seconds, calls, tokens and cost, where its seconds go, its errors and limits, and
whether another system is better, faster and cheaper. Several runs of the same data and settings are joined.
"""

FORMATS = {"json": "write everything as JSON", "csv": "write one row for each system as CSV"}


def add_to(commands: Commands) -> None:
    """Add the analysis ``deployment``."""
    from pytest_rageval.commands.analyses.load_and_write import add_formats

    parser = commands.add_parser(
        "deployment", help="quality against time and cost", description=DESCRIPTION, allow_abbrev=False
    )
    add_formats(parser, FORMATS)
    parser.add_argument("--metric", metavar="M", help="the quality (default: the primary metric of the most cases)")
    parser.add_argument("--by", metavar="FACET", help="also for each value of this facet, with their macro average")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.activity import doing
    from pytest_rageval.analysis.metric_info import MetricInfo
    from pytest_rageval.analysis.systems.board import board_of
    from pytest_rageval.commands.analyses.load_and_write import (
        check_facet,
        json_text,
        load_joined_runs,
        select_metric,
        table_lines,
        write_formats,
    )
    from pytest_rageval.report.terminal.deployment_tables import deployment_csv, deployment_json, deployment_tables

    runs = load_joined_runs(arguments.runs)
    metric, by = select_metric(runs, arguments.metric), arguments.by or ""
    if by:
        check_facet(runs, by, "--by")
    board = board_of(runs.of_metric(metric), metric, runs.metrics.get(metric, MetricInfo()))
    with doing(f"comparing {len(board.candidates)} systems"):
        rows = _rows(board, by)
    concurrency = {system: settings.get("rag_concurrency", "") for system, settings in runs.settings.items()}
    texts = {
        "json": lambda: json_text({"runs": list(runs.names), **deployment_json(rows, metric, by, concurrency)}),
        "csv": lambda: deployment_csv(rows, by),
    }
    lines = write_formats(arguments, texts, runs.names)
    if lines is not None:
        yield from lines
        return
    yield f"run {', '.join(runs.names)}"
    yield ""
    yield from table_lines(deployment_tables(rows, metric, by, concurrency))


def _rows(board: Board, by: str) -> dict[str, list[SystemCosts]]:
    """Return facet value -> rows of the systems, and their macro averages; without a facet, "" -> all rows."""
    from pytest_rageval.analysis.systems.costs import macro_of, system_costs
    from pytest_rageval.analysis.systems.grid import axes_of
    from pytest_rageval.report.terminal.deployment_tables import MACRO

    if not by:
        return {"": system_costs(board)}
    values = [where[by] for where in axes_of(board, [by])]

    def rows_with(value: str) -> list[SystemCosts]:
        return system_costs(board, lambda outcome: outcome.facets.get(by) == value)

    rows = {value: rows_with(value) for value in values}
    by_system = {
        system.name: [row for group in rows.values() for row in group if row.system == system]
        for system in board.candidates
    }
    averages = [macro_of(its_rows) for its_rows in by_system.values() if len(its_rows) == len(values)]
    return {**rows, MACRO: averages}
