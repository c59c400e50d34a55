"""The formats of ``rageval show RUN``, as options; what writes them is imported when one is asked for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

__all__ = ["FORMATS", "MLFLOW", "add_to", "wanted"]

MLFLOW = "mlflow"

FILES = ("html", "parquet")
"""Formats that are never printed."""

FORMATS: Mapping[str, str] = {
    "html": "draw the run as a page, one file that a browser opens",
    "csv": "write the outcomes as CSV, a row each",
    "parquet": "write the outcomes as Parquet, a row each",
    "latex": "write the matrices as LaTeX tables, for the package booktabs",
    "markdown": "write the report of a pull request, in GitHub's Markdown",
    "codequality": "write what failed or broke as a code-quality report of GitLab",
    "json": "write results.json, an outcome a line and its keys sorted",
}


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add an option for each format, which takes a path; where it is text none, or ``-``, is the standard output."""
    for name, what in FORMATS.items():
        if name in FILES:
            parser.add_argument(f"--{name}", metavar="PATH", help=what)
        else:
            parser.add_argument(f"--{name}", nargs="?", const="-", metavar="PATH", help=f"{what}; - prints it")
    parser.add_argument(f"--{MLFLOW}", metavar="URI", help="log each system as a run of MLflow")


def wanted(arguments: argparse.Namespace) -> dict[str, str]:
    """Return format -> path, of those that were asked for."""
    return {name: path for name in (*FORMATS, MLFLOW) if (path := getattr(arguments, name)) is not None}
