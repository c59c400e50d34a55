"""What is typed behind ``rageval compare``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["add_to"]

DESCRIPTION = """\
Compare two runs, each a baseline, a results.json, or a run under .rageval/runs: which cases broke and which were
mended, for each metric, system and cell, and what of it is no noise. It reports and decides nothing: exit status 0
unless something cannot be read.
"""


def add_to(commands: Commands) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "compare", help="compare two runs case by case", description=DESCRIPTION, allow_abbrev=False
    )
    parser.add_argument("base", metavar="BASE", help="the earlier one: a baseline, a results.json, or a run")
    parser.add_argument("new", metavar="NEW", help="the later one, likewise")
    parser.add_argument("--rows", metavar="FACET", help="rows of the cells, topic if not given")
    parser.add_argument("--cols", metavar="FACET", help="columns of the cells, task if not given")
    parser.add_argument("--alpha", default="0.05", metavar="A", help="false alarms that are taken, as a share")
    parser.add_argument("--plan", metavar="DROP", help="tell how many cases a drop of this size needs to be shown")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.compare import compare_runs

    options = {name: getattr(arguments, name) for name in ("rows", "cols", "alpha", "plan")}
    return compare_runs(arguments.base, arguments.new, as_json=arguments.json, **options)
