"""The arguments of ``rageval init``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

__all__ = ["add_to"]

DESCRIPTION = """\
Write a first suite into this folder, ready for `pytest`: cases, a suite with gates, pytest's settings and a workflow
for GitHub Actions. Without options the cases are invented, and the embedded reader answers them. No file is
overwritten: if one exists, nothing is written. Exit status: 0, 1 if rows of --data were left out, 2 if nothing was
written.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``init``."""
    parser.description = DESCRIPTION
    parser.add_argument("--from", dest="system", default="", metavar="MODULE:ATTR", help="the system under test")
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="your cases: JSON Lines, CSV, TSV or another table of rageval import"
    )
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.first_suite.write import write_suite

    return write_suite(Path.cwd(), arguments.system, arguments.data)
