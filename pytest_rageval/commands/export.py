"""The arguments of ``rageval export``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pytest_rageval.commands.command_parser import RUN
from pytest_rageval.commands.exports.formats import FORMATS

__all__ = ["add_to"]

DESCRIPTION = """\
Write a run in another format. Text formats are printed unless --out names a file; an HTML page, Parquet and traces go
to RUN.html, RUN.parquet and traces-RUN in the current folder.
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``export``."""
    parser.description = DESCRIPTION
    parser.add_argument("run", nargs="?", metavar="RUN", help=f"{RUN} (default: the newest)")
    formats = "; ".join(f"{name}: {what}" for name, what in FORMATS.items())
    parser.add_argument("--as", dest="format", required=True, choices=FORMATS, metavar="FORMAT", help=formats)
    parser.add_argument("--out", metavar="PATH", help="the file, folder or URI to write; - prints a text format")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.exports.export_run import export_run

    return export_run(arguments.run, arguments.format, arguments.out)
