"""The arguments of ``rageval cassettes``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.command_parser import RUN

__all__ = ["add_to"]

DESCRIPTION = """\
List the files of recordings and how many recordings of each the newest run used. FOLDER is the folder of rag_cassettes;
the ini is not read here. Default: the folder "cassettes" of the project.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``cassettes``."""
    parser.description = DESCRIPTION
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="the folder of the recordings")
    parser.add_argument("--unused", action="store_true", help="list each recording that the run did not use")
    parser.add_argument("--prune", action="store_true", help="remove the recordings that the run did not use")
    parser.add_argument(
        "--diff", metavar="CASE", help="show how the calls of this case that the run missed differ from the recordings"
    )
    parser.add_argument("--run", metavar="RUN", help=f"{RUN}; even if it was partial (default: the newest)")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import cassettes, missed

    if arguments.diff is not None:
        return missed(arguments.diff, arguments.run)
    return cassettes(arguments.folder, unused=arguments.unused, prune=arguments.prune, run=arguments.run)
