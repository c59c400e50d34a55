"""Where ``rageval show`` may write: never over a run that it reads, nor two formats into one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pytest_rageval.commands.show_formats import MLFLOW, STDOUT
from pytest_rageval.errors import SettingError, ascii_safe, found

__all__ = ["check_targets"]


def check_targets(run: str | None, results: Path, runs: Path, paths: Mapping[str, str]) -> None:
    """Refuse a target that would overwrite a run, as ``--csv results.json`` without a run before it.

    ``--json`` may write over a results.json where the run is named, as that is what it wrote the last time.

    Args:
        run: the run as it was named, None where it was not.
        results: the results.json that is read.
        runs: the folder of the project's runs.
        paths: format -> where to write it, or MLflow's store.

    Raises:
        SettingError: a target is empty, is the run that is read, a results.json or a run's name, or is written twice.
    """
    holders: dict[Path, str] = {}
    for name, target in paths.items():
        if not target.strip():
            raise SettingError(f"--{name} is given nothing to write to; name {_wanted(name)}")
        if target == STDOUT or (name == MLFLOW and "://" in target):
            continue
        path = Path(target)
        renewed = name == "json" and run is not None and not _is_same(path, results)
        if path.name == target and (runs / target).is_dir():
            raise SettingError(f"--{name} names the run {found(target)}; {_put_first(target, name)}")
        if not renewed and (_is_same(path, results) or _holds_results(path)):
            raise SettingError(f"--{name} would overwrite the results in {found(target)}; {_put_first(target, name)}")
        holder = holders.setdefault(path.resolve(), name)
        if holder != name and (path.is_file() or not path.exists()):
            raise SettingError(f"--{holder} and --{name} both write to {found(target)}; name two files")


def _wanted(name: str) -> str:
    return "a server, a database or a folder" if name == MLFLOW else "a file"


def _put_first(run: str, name: str) -> str:
    return f"name the run first and the target behind its format: rageval show {ascii_safe(run)} --{name} TARGET"


def _is_same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()


def _holds_results(path: Path) -> bool:
    try:
        plain = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(plain, dict) and {"schema", "outcomes"} <= plain.keys()
