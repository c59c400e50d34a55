"""The arguments of ``rageval judge eval``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["add_to"]

DESCRIPTION = """\
Compare a trained judge with people's labels of other answers; print the tables of its card. Exit status: 0, or 1 if
kappa is below --min-kappa.
"""


def add_to(subcommands: Any) -> None:
    """Add the subcommand ``eval``."""
    parser = subcommands.add_parser("eval", help="measure a trained judge on other labels", description=DESCRIPTION)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of the judge")
    parser.add_argument("sheets", nargs="+", type=Path, metavar="SHEET", help="a file of labels, with the texts")
    parser.add_argument("--value", action="append", default=[], metavar="WORD=X", help="the value of a label, in 0..1")
    parser.add_argument("--min-kappa", type=float, metavar="X", help="exit with 1 below this kappa")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run_command=_run)


def _run(arguments: argparse.Namespace) -> Iterator[str]:
    from pytest_rageval.commands.judge.evaluation import evaluate

    return evaluate(
        arguments.folder, arguments.sheets, arguments.value, min_kappa=arguments.min_kappa, as_json=arguments.json
    )
