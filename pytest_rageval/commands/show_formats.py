"""The format options of ``rageval show``; their writers are imported on use."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

__all__ = ["FORMATS", "MLFLOW", "STDOUT", "add_to", "targets"]

MLFLOW = "mlflow"
STDOUT = "-"

FILES = ("html", "parquet")
"""Formats that are never printed."""

FORMATS: Mapping[str, str] = {
    "html": "write the run as one HTML page",
    "csv": "write the outcomes as CSV, one row each",
    "parquet": "write the outcomes as Parquet, one row each",
    "latex": "write the matrices as LaTeX tables (package booktabs)",
    "markdown": "write the report for a pull request as GitHub Markdown",
    "codequality": "write failed and broken cases as a GitLab code-quality report",
    "json": "write results.json with sorted keys, one outcome per line",
}


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add one option per format with a path as its value; text formats print without a path or with ``-``."""
    for name, what in FORMATS.items():
        if name in FILES:
            parser.add_argument(f"--{name}", metavar="PATH", help=what)
        else:
            parser.add_argument(f"--{name}", nargs="?", const=STDOUT, metavar="PATH", help=f"{what}; - prints it")
    parser.add_argument(f"--{MLFLOW}", metavar="URI", help="log each system as a run of MLflow")


def targets(arguments: argparse.Namespace) -> dict[str, str]:
    """Return format -> path of the options that are set."""
    return {name: path for name in (*FORMATS, MLFLOW) if (path := getattr(arguments, name)) is not None}
