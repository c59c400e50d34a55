"""The arguments of ``rageval cassettes``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_rageval.commands.command_parser import RUN, CommandParser

__all__ = ["add_to"]

DESCRIPTION = """\
Manage recorded model calls. `info`, the default, lists the files of recordings and how many of each the newest run
used. `prune` removes the recordings that the run did not use. `diff` shows how calls of a case without a recording
differ from the nearest recordings. FOLDER is the folder of rag_cassettes; the ini is not read here. Default: the folder
"cassettes" of the project.
"""

SUBCOMMANDS = ("info", "prune", "diff")


def add_to(parser: CommandParser) -> None:
    """Add the arguments of ``cassettes``."""
    parser.description = DESCRIPTION
    parser.rewrite = _with_info
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    info = subparsers.add_parser("info", help="list the files of recordings (default)")
    info.add_argument("--unused", action="store_true", help="list each recording that the run did not use")
    info.option_hints = {f"--{name}": f"write rageval cassettes {name}" for name in ("prune", "diff")}
    info.set_defaults(run_command=_info)
    prune = subparsers.add_parser("prune", help="remove the recordings that the run did not use")
    prune.add_argument("--dry-run", action="store_true", help="list what would be removed, and remove nothing")
    prune.set_defaults(run_command=_prune)
    diff = subparsers.add_parser("diff", help="show how calls of a case differ from the recordings")
    diff.add_argument("case", metavar="CASE", help="the id of the case")
    diff.set_defaults(run_command=_diff)
    for subparser in (info, prune):
        subparser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="the folder of the recordings")
    for subparser in (info, prune, diff):
        subparser.add_argument("--run", metavar="RUN", help=f"{RUN}; even if it was partial (default: the newest)")


def _with_info(arguments: Sequence[str]) -> list[str]:
    """Return arguments with the subcommand ``info`` if they begin with no subcommand."""
    has_subcommand = arguments[:1] and arguments[0] in (*SUBCOMMANDS, "-h", "--help")
    return [*arguments] if has_subcommand else ["info", *arguments]


def _info(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import info

    return info(arguments.folder, arguments.run, unused=arguments.unused)


def _prune(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import prune

    return prune(arguments.folder, arguments.run, dry_run=arguments.dry_run)


def _diff(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import diff

    return diff(arguments.case, arguments.run)
