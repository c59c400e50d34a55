"""The formats of ``rageval export`` and their targets; their writers are imported on use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pytest_rageval.errors import SettingError, ascii_safe, short_repr

__all__ = ["FORMATS", "MLFLOW", "STDOUT", "TRACES", "check_target"]

MLFLOW, TRACES = "mlflow", "traces"
STDOUT = "-"

FORMATS: Mapping[str, str] = {
    "html": "the run as one page",
    "markdown": "the report for a pull request, for GitHub",
    "csv": "the outcomes, one row each",
    "parquet": "the outcomes, one row each, in typed columns",
    "latex": "the matrices as tables (package booktabs)",
    "codequality": "failed and broken cases, for GitLab",
    "json": "results.json with sorted keys, one outcome per line",
    TRACES: "a folder with one JSON file for each answer that has steps",
    MLFLOW: "each system as a run of MLflow; URI is a server, a database or a folder",
}
"""Format -> what it writes."""

UNPRINTABLE = ("html", "parquet", TRACES, MLFLOW)


def check_target(name: str, out: str | None, run: str | None, results: Path, runs: Path) -> None:
    """Raise `SettingError` for a target that is missing, or would overwrite a run.

    With a named run, the format ``json`` may overwrite another results.json, such as an earlier export.

    Args:
        name: the format.
        out: the target of ``--out``; None for the default one.
        run: the run's name as typed, or None.
        results: the results.json to read.
        runs: the folder of the project's runs.
    """
    if name == MLFLOW and not (out or "").strip():
        raise SettingError("--as mlflow needs --out URI: a server, a database or a folder")
    if out is None:
        return
    if not out.strip():
        raise SettingError("--out has no target; name a file")
    if out == STDOUT:
        if name in UNPRINTABLE:
            raise SettingError(f"--as {name} cannot be printed; give --out a path")
        return
    if name == MLFLOW and "://" in out:
        return
    path = Path(out)
    if path.name == out and (runs / out).is_dir():
        problem = f"--out names the run {short_repr(out)}"
        raise SettingError(f"{problem}; put the run first: rageval export {ascii_safe(out)} --as {name} --out FILE")
    may_overwrite = name == "json" and run is not None and not _is_same(path, results)
    if not may_overwrite and (_is_same(path, results) or _holds_results(path)):
        raise SettingError(f"--out would overwrite the results in {short_repr(out)}; name another file")


def _is_same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()


def _holds_results(path: Path) -> bool:
    try:
        plain = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and {"schema", "outcomes"} <= plain.keys()
