"""The arguments of ``rageval history``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add_to"]

DESCRIPTION = """\
Show a metric run by run, from .rageval/runs, or commit by commit of a baseline, with --baseline: its value, the number
of cases, its 95 % interval and the difference from the last line that has the whole testbed. The default is the primary
metric of each testbed, separately for each system. A line that has only a part of a testbed says why.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``history``."""
    parser.description = DESCRIPTION
    parser.add_argument("--metric", help="show this metric instead of the primary one of each testbed")
    parser.add_argument("--testbed", help="show only this testbed, by its name or node id")
    parser.add_argument("--system", help="show only this system, by its name")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="show the commits of this baseline")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.history import history
    from pytest_rageval.report.run.history import HistoryQuery

    selection = HistoryQuery(arguments.metric, arguments.testbed, arguments.system)
    return history(selection, arguments.baseline, as_json=arguments.json)
