"""The arguments of ``rageval merge``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.commands.command_parser import RUN, USAGE_ERROR

__all__ = ["add_to"]

DESCRIPTION = """\
Join the results of all shards of one run (`pytest --rag-shard 1/3`, 2/3, 3/3) in a new folder under .rageval/runs:
evaluate the gates, and print the summary that pytest would print for the whole run. Exit status, like pytest's: 0 all
passed, 1 a gate or a test failed, 2 a shard was interrupted, 4 the results are not all shards of one run.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``merge``."""
    parser.description = DESCRIPTION
    parser.add_argument("shards", nargs="+", metavar="RUN", help=f"{RUN}, or a folder with a results.json")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the joined results.json to FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the report as Markdown to FILE")
    parser.set_defaults(run_command=_run, error_status=USAGE_ERROR)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.merge import merge

    return merge(arguments.shards, arguments.out, arguments.markdown)
