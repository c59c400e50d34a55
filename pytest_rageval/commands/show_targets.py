"""Check the targets of ``rageval show``: one file per format, and never a run's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pytest_rageval.commands.show_formats import MLFLOW, STDOUT
from pytest_rageval.errors import SettingError, ascii_safe, short_repr

__all__ = ["check_targets"]


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
