"""``rageval analyze deployment``: what it costs to be that good."""

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
    """Add ``analyze deployment``."""
    from pytest_rageval.commands.analyses.runs import add_formats

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
    from pytest_rageval.commands.analyses.runs import as_json, chosen_metric, facet_known, joined, outputs, table_text
    from pytest_rageval.report.terminal.deployment_tables import deployment_csv, deployment_json, deployment_tables

    runs = joined(arguments.runs)
    metric, by = chosen_metric(runs, arguments.metric), arguments.by or ""
    if by:
        facet_known(runs, by, "--by")
    board = board_of(runs.of_metric(metric), metric, runs.metrics.get(metric, MetricInfo()))
    with doing(f"comparing {len(board.candidates)} systems"):
        rows = _rows(board, by)
    concurrency = {system: settings.get("rag_concurrency", "") for system, settings in runs.settings.items()}
    texts = {
        "json": lambda: as_json({"runs": list(runs.names), **deployment_json(rows, metric, by, concurrency)}),
        "csv": lambda: deployment_csv(rows, by),
    }
    lines = outputs(arguments, texts, runs.names)
    if lines is not None:
        yield from lines
        return
    yield f"run {', '.join(runs.names)}"
    yield ""
    yield from table_text(deployment_tables(rows, metric, by, concurrency))


def _rows(board: Board, by: str) -> dict[str, list[SystemCosts]]:
    """Return value of the facet -> the systems; with a facet, also their macro average over its values."""
    from pytest_rageval.analysis.systems.costs import macro_of, system_costs
    from pytest_rageval.analysis.systems.grid import axes_of
    from pytest_rageval.report.terminal.deployment_tables import MACRO

    if not by:
        return {"": system_costs(board)}
    values = [where[by] for where in axes_of(board, [by])]

    def at(value: str) -> list[SystemCosts]:
        return system_costs(board, lambda outcome: outcome.facets.get(by) == value)

    rows = {value: at(value) for value in values}
    of_system = {
        each.name: [row for group in rows.values() for row in group if row.system == each] for each in board.candidates
    }
    complete = [macro_of(mine) for mine in of_system.values() if len(mine) == len(values)]
    return {**rows, MACRO: complete}
