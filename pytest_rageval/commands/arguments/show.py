"""The arguments of ``rageval show``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pytest_rageval.commands.command_parser import RUN, CommandParser
from pytest_rageval.commands.exports.formats import FORMATS

__all__ = ["add_to"]

DESCRIPTION = """\
Print the account of a run, by default the newest: the verdict, its causes with examples, and the gates that decided.
"""


def add_to(parser: CommandParser) -> None:
    """Add the arguments of ``show``."""
    parser.description = DESCRIPTION
    parser.add_argument("run", nargs="?", metavar="RUN", help=RUN)
    parser.add_argument(
        "--case", metavar="ID", help="print one case: old and new answer, scores, passages, cause, steps"
    )
    parser.add_argument("--full", action="store_true", help="also print counts, matrices, correlations and all gates")
    parser.option_hints = {f"--{name}": f"rageval export RUN --as {name} writes this format" for name in FORMATS}
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.case is not None:
        from pytest_rageval.commands.show_case import show_case

        return show_case(arguments.run, arguments.case)
    from pytest_rageval.commands.show import show

    return show(arguments.run, full=arguments.full)
