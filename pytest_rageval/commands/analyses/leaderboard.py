"""``rageval analyze leaderboard``: rank systems by a metric."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to"]

DESCRIPTION = """\
Rank several systems by a metric: mean, cases won and lost against the others, a rating, and which systems a paired test
cannot tell from the best one. Several runs of the same data and settings are joined.
"""

FORMATS = {"json": "write everything as JSON"}


def add_to(commands: Commands) -> None:
    """Add the analysis ``leaderboard``."""
    from pytest_rageval.commands.analyses.load_and_write import add_formats

    parser = commands.add_parser(
        "leaderboard", help="systems ranked by a metric", description=DESCRIPTION, allow_abbrev=False
    )
    add_formats(parser, FORMATS)
    parser.add_argument("--metric", metavar="M", help="the metric (default: the primary one of the most cases)")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.analysis.metric_info import MetricInfo
    from pytest_rageval.analysis.systems.board import board_of
    from pytest_rageval.analysis.systems.leaderboard import leaderboard_of_board
    from pytest_rageval.commands.analyses.load_and_write import (
        json_text,
        load_joined_runs,
        select_metric,
        table_lines,
        write_formats,
    )
    from pytest_rageval.errors import SettingError
    from pytest_rageval.report.terminal.leaderboard_tables import leaderboard_json, leaderboard_table

    runs = load_joined_runs(arguments.runs)
    metric = select_metric(runs, arguments.metric)
    board = board_of(runs.of_metric(metric), metric, runs.metrics.get(metric, MetricInfo()))
    if len(board.candidates) < 2:
        only = board.candidates[0].name if board.candidates else "none"
        raise SettingError(f"the run has one system ({only}) with {metric}; run several, or name several runs")
    leaderboard = leaderboard_of_board(board, runs.alpha)
    texts = {"json": lambda: json_text({"runs": list(runs.names), **leaderboard_json(leaderboard)})}
    lines = write_formats(arguments, texts, runs.names)
    if lines is not None:
        yield from lines
        return
    yield f"run {', '.join(runs.names)}: {len(board.candidates)} systems, {len(board.facets)} cases, {metric}"
    yield ""
    yield from table_lines([leaderboard_table(leaderboard)])
