"""The arguments of ``rageval compare``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

__all__ = ["add_to"]

DESCRIPTION = """\
Compare two runs; each is a baseline, a results.json, or a run under .rageval/runs. Report which cases broke and which
were fixed, for each metric, system and cell, and which differences are significant. Nothing fails: the exit status is 0
unless a run cannot be read.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``compare``."""
    parser.description = DESCRIPTION
    parser.add_argument("base", metavar="BASE", help="the earlier run: a baseline, a results.json, or a run")
    parser.add_argument("new", metavar="NEW", help="the later run, in the same forms")
    parser.add_argument("--rows", metavar="FACET", help="facet of the rows of cells (default topic)")
    parser.add_argument("--cols", metavar="FACET", help="facet of the columns of cells (default task)")
    parser.add_argument("--alpha", default="0.05", metavar="A", help="accepted share of false alarms (default 0.05)")
    parser.add_argument("--plan", metavar="DROP", help="report how many cases are needed to detect a drop of this size")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.compare import compare_runs

    options = {name: getattr(arguments, name) for name in ("rows", "cols", "alpha", "plan")}
    return compare_runs(arguments.base, arguments.new, as_json=arguments.json, **options)
