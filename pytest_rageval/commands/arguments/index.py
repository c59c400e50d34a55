"""The arguments of ``rageval index``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

__all__ = ["add_to"]

DESCRIPTION = """\
Manage the index of the ini's retriever over the ini's corpus. `build` builds it before the tests, for example before CI
starts its workers. `info` lists the indexes in .rageval/indexes. `prune` removes the indexes that the ini does not use,
including those of test fixtures; the next run rebuilds these.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``index``."""
    parser.description = DESCRIPTION
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    build = subparsers.add_parser("build", help="build the index if it is missing")
    build.set_defaults(run_command=_build)
    info = subparsers.add_parser("info", help="list the indexes and mark those that the ini uses")
    info.add_argument("--json", action="store_true", help="print JSON")
    info.set_defaults(run_command=_info)
    prune = subparsers.add_parser("prune", help="remove the indexes that the ini does not use")
    prune.add_argument("--dry-run", action="store_true", help="list what would be removed, and remove nothing")
    prune.set_defaults(run_command=_prune)


def _build(_: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import build

    return build()


def _info(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import info

    return info(as_json=arguments.json)


def _prune(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.index import prune

    return prune(dry_run=arguments.dry_run)
