"""``rageval analyze matching``: which system suits which task."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rageval.analysis.systems.matching import Matching

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to"]

DESCRIPTION = """\
Show which of several systems is best, where, and which others a paired test does not separate from it: a grid of rows
and columns, axes of tasks, ranks, the fit of rows to columns, and what choosing the best system for each case would
reach. Several runs of the same data and settings are joined.
"""

FORMATS = {
    "json": "write everything as JSON",
    "csv": "write the cells of the grid and the axes as CSV",
    "latex": "write the grid and the axes as LaTeX tables (package booktabs)",
}


def add_to(commands: Commands) -> None:
    """Add the analysis ``matching``."""
    from pytest_rageval.analysis.systems.ranks import TIES
    from pytest_rageval.commands.analyses.load_and_write import add_formats

    parser = commands.add_parser(
        "matching", help="which system suits which task", description=DESCRIPTION, allow_abbrev=False
    )
    add_formats(parser, FORMATS)
    parser.add_argument("--metric", metavar="M", help="the metric (default: the primary one of the most cases)")
    parser.add_argument("--rows", metavar="FACET", default="workflow", help="rows of the grid (default workflow)")
    parser.add_argument("--cols", metavar="FACET", default="model", help="columns of the grid (default model)")
    parser.add_argument("--axes", metavar="FACETS", help="facets of the axes (default domain,level)")
    parser.add_argument("--normalize", metavar="SYSTEM", help="divide the axes by this system's values")
    parser.add_argument("--common", action="store_true", help="also average over the columns that every row has")
    parser.add_argument("--ties", choices=TIES, default=TIES[0], help="ranks of equal values (default average)")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.analyses.load_and_write import json_text, table_lines, write_formats
    from pytest_rageval.report.export.latex import tables_latex
    from pytest_rageval.report.files.matching_json import matching_csv, matching_json
    from pytest_rageval.report.terminal.matching_tables import axes_table, grid_table, matching_tables

    matching, names = _matching(arguments)
    common = arguments.common

    def latex() -> str:
        tables = [grid_table(matching, common=common), *([axes_table(matching)] if matching.axes else [])]
        return tables_latex(tables)

    texts = {
        "json": lambda: json_text({"runs": list(names), **matching_json(matching, common=common)}),
        "csv": lambda: matching_csv(matching),
        "latex": latex,
    }
    lines = write_formats(arguments, texts, names)
    if lines is not None:
        yield from lines
        return
    cases = len(matching.board.facets)
    yield f"run {', '.join(names)}: {len(matching.board.candidates)} systems, {cases} cases, {matching.board.metric}"
    yield ""
    yield from table_lines(matching_tables(matching, common=common))


def _matching(arguments: argparse.Namespace) -> tuple[Matching, tuple[str, ...]]:
    """Load the runs and compare their systems; return the comparison and the names of the runs."""
    from pytest_rageval.activity import doing
    from pytest_rageval.analysis.metric_info import MetricInfo
    from pytest_rageval.analysis.systems.board import board_of
    from pytest_rageval.analysis.systems.matching import matching_of
    from pytest_rageval.commands.analyses.load_and_write import check_facet, load_joined_runs, select_metric
    from pytest_rageval.errors import SettingError, UnknownNameError
    from pytest_rageval.report.sections.systems import AXES

    runs = load_joined_runs(arguments.runs)
    metric = select_metric(runs, arguments.metric)
    board = board_of(runs.of_metric(metric), metric, runs.metrics.get(metric, MetricInfo()))
    names = [each.name for each in board.candidates]
    if len(names) < 2:
        only = names[0] if names else "none"
        raise SettingError(f"the run has one system ({only}) with {metric}; run several, or name several runs")
    for option, facet in (("--rows", arguments.rows), ("--cols", arguments.cols)):
        check_facet(runs, facet, option, of_systems=True)
    axes = (
        list(AXES) if arguments.axes is None else [name.strip() for name in arguments.axes.split(",") if name.strip()]
    )
    if arguments.axes is not None:
        for facet in axes:
            check_facet(runs, facet, "--axes")
    if arguments.normalize is not None and arguments.normalize not in names:
        raise UnknownNameError("system", arguments.normalize, names, "--normalize")
    with doing(f"comparing {len(names)} systems"):
        matching = matching_of(
            board,
            alpha=runs.alpha,
            facets=(arguments.rows, arguments.cols),
            axes=axes,
            base=arguments.normalize or "",
            ties=arguments.ties,
        )
    return matching, runs.names
