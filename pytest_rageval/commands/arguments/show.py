"""The arguments of ``rageval show``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pytest_rageval.commands.command_parser import RUN
from pytest_rageval.commands.exports import formats
from pytest_rageval.errors import SettingError

__all__ = ["add_to"]

DESCRIPTION = "Print the summary of a run, by default the newest: counts, matrices, correlations, gates."


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``show``."""
    parser.description = DESCRIPTION
    parser.add_argument("run", nargs="?", metavar="RUN", help=RUN)
    parser.add_argument(
        "--case", metavar="ID", help="print one case, by its id or node id, with the steps of its answer"
    )
    formats.add_to(parser)
    parser.set_defaults(run_command=_run, pages=True)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    paths = formats.targets(arguments)
    if arguments.case is not None:
        if paths:
            raise SettingError("--case prints one case; leave out the formats")
        from pytest_rageval.commands.show_case import show_case

        return show_case(arguments.run, arguments.case)
    if paths:
        from pytest_rageval.commands.exports.show_as import show_as

        return show_as(arguments.run, paths)
    from pytest_rageval.commands.show import show

    return show(arguments.run)
