"""``rageval analyze errors``: count the types of right and wrong answers, with reasons."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.commands.command_parser import RUN

if TYPE_CHECKING:
    from pytest_rageval.analysis.error_types import Average

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to", "analyze_errors"]

AVERAGES = ("micro", "task_macro", "level_macro")

DESCRIPTION = """\
Show the diagnosis of a run, by default the newest: the types of its answers by system with 95 % intervals, the
commonest reasons of each wrong type with a case each, the tools with their calls and failures, and the tools that
failed where tools were the problem.
"""


def add_to(commands: Commands) -> None:
    """Add the analysis ``errors``."""
    parser = commands.add_parser(
        "errors", help="show the types of right and wrong answers", description=DESCRIPTION, allow_abbrev=False
    )
    parser.add_argument("run", nargs="?", metavar="RUN", help=RUN)
    parser.add_argument("--by", metavar="FACET", help="also by the values of this facet")
    parser.add_argument(
        "--average",
        choices=AVERAGES,
        default="micro",
        help="micro: over answers (default); task_macro: mean over tasks; level_macro: mean over the tasks of a level, "
        "then over the cells of domain and level",
    )
    parser.add_argument("--compat", choices=("reval",), help="decide the types by R-Eval's published rule instead")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    compat = arguments.compat is not None
    return analyze_errors(arguments.run, arguments.by, arguments.average, compat=compat, as_json=arguments.json)


def analyze_errors(run: str | None, by: str | None, average: Average, *, compat: bool, as_json: bool) -> Iterator[str]:
    """Yield the error analysis of a run.

    Args:
        run: the run's name, or the path of its results.json; None is the newest.
        by: the facet whose values are separate rows; None for none.
        average: how types are averaged.
        compat: decide the types by R-Eval's published rule.
        as_json: yield one JSON document instead of tables as wide as the terminal.

    Raises:
        SettingError: the run cannot be read, has no diagnosis, or lacks texts or facets that the analysis needs.
    """
    from pytest_rageval.activity import doing
    from pytest_rageval.analysis.error_types import analyze
    from pytest_rageval.commands.runs import rootdir, stored_run
    from pytest_rageval.report.run.diagnoses import diagnosed_outcomes, outcomes_by_reval
    from pytest_rageval.report.terminal.error_tables import errors_lines, errors_to_plain

    stored = stored_run(rootdir(Path.cwd()), run)
    with doing("analyzing the errors"):
        cases = outcomes_by_reval(stored.run) if compat else diagnosed_outcomes(stored.run)
        analysis = analyze(cases, stored.run.of_systems(), by, average)
    if as_json:
        yield json.dumps(errors_to_plain(analysis, stored.results["run"]["id"], compat=compat), indent=1)
        return
    yield stored.head
    yield from errors_lines(analysis, shutil.get_terminal_size().columns, compat=compat)
