"""The format options of ``rageval show`` and their targets; their writers are imported on use."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from pytest_rageval.errors import SettingError, ascii_safe, short_repr

__all__ = ["FORMATS", "MLFLOW", "STDOUT", "add_to", "check_targets", "targets"]

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


def check_targets(run: str | None, results: Path, runs: Path, paths: Mapping[str, str]) -> None:
    """Raise `SettingError` for a target that would overwrite a run, such as ``--csv results.json`` without a run.

    With a named run, ``--json`` may overwrite another results.json: its own output of the last time.

    Args:
        run: the run's name as typed, or None.
        results: the results.json to read.
        runs: the folder of the project's runs.
        paths: format -> target path, or MLflow's store.

    Raises:
        SettingError: a target is empty, is the run itself, a results.json or a run's name, or has two formats.
    """
    holders: dict[Path, str] = {}
    for name, target in paths.items():
        if not target.strip():
            raise SettingError(f"--{name} has no target; name {_target_kind(name)}")
        if target == STDOUT or (name == MLFLOW and "://" in target):
            continue
        path = Path(target)
        renewed = name == "json" and run is not None and not _is_same(path, results)
        if path.name == target and (runs / target).is_dir():
            raise SettingError(f"--{name} names the run {short_repr(target)}; {_put_first(target, name)}")
        if not renewed and (_is_same(path, results) or _holds_results(path)):
            raise SettingError(
                f"--{name} would overwrite the results in {short_repr(target)}; {_put_first(target, name)}"
            )
        holder = holders.setdefault(path.resolve(), name)
        if holder != name and (path.is_file() or not path.exists()):
            raise SettingError(f"--{holder} and --{name} both write to {short_repr(target)}; name two files")


def _target_kind(name: str) -> str:
    return "a server, a database or a folder" if name == MLFLOW else "a file"


def _put_first(run: str, name: str) -> str:
    return f"put the run first and the target after its format: rageval show {ascii_safe(run)} --{name} TARGET"


def _is_same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()


def _holds_results(path: Path) -> bool:
    try:
        plain = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and {"schema", "outcomes"} <= plain.keys()
