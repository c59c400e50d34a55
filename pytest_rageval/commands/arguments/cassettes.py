"""The arguments of ``rageval cassettes``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_rageval.commands.command_parser import RUN, CommandParser

__all__ = ["add_to"]

DESCRIPTION = """\
Manage recorded model calls. `info` lists the files of recordings and how many of each the newest run used; `rageval
cassettes` alone means it. `prune` removes the recordings that the run did not use. `diff` shows how the calls of a case
that the run missed differ from the recordings. FOLDER is the folder of rag_cassettes; the ini is not read here.
Default: the folder "cassettes" of the project.
"""

WORDS = ("info", "prune", "diff")


def add_to(parser: CommandParser) -> None:
    """Add the arguments of ``cassettes``."""
    parser.description = DESCRIPTION
    parser.rewrite = _with_info
    words = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    info = words.add_parser("info", help="list the files of recordings (default)")
    info.add_argument("--unused", action="store_true", help="list each recording that the run did not use")
    info.elsewhere = {f"--{word}": f"write rageval cassettes {word}" for word in ("prune", "diff")}
    info.set_defaults(run_command=_info)
    prune = words.add_parser("prune", help="remove the recordings that the run did not use")
    prune.add_argument("--dry-run", action="store_true", help="list what would be removed, and remove nothing")
    prune.set_defaults(run_command=_prune)
    diff = words.add_parser("diff", help="show how missed calls of a case differ from the recordings")
    diff.add_argument("case", metavar="CASE", help="the id of the case")
    diff.set_defaults(run_command=_diff)
    for below in (info, prune):
        below.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="the folder of the recordings")
    for below in (info, prune, diff):
        below.add_argument("--run", metavar="RUN", help=f"{RUN}; even if it was partial (default: the newest)")


def _with_info(arguments: Sequence[str]) -> list[str]:
    has_word = arguments[:1] and arguments[0] in (*WORDS, "-h", "--help")
    return [*arguments] if has_word else ["info", *arguments]


def _info(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import info

    return info(arguments.folder, arguments.run, unused=arguments.unused)


def _prune(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import prune

    return prune(arguments.folder, arguments.run, dry_run=arguments.dry_run)


def _diff(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.cassettes import missed

    return missed(arguments.case, arguments.run)
