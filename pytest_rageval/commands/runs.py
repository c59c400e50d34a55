"""The project a command is called in, and the runs of its tests."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_rageval.analysis.measured import Snapshot
from pytest_rageval.errors import SettingError, found
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.baseline_file import read_baseline
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.files.results_json import SCHEMA
from pytest_rageval.report.files.run_folder import run_age
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

__all__ = [
    "StoredRun", "UsedRecordings", "results_path", "rootdir", "runs_of", "snapshot_named", "stored_run",
    "used_recordings",
]  # fmt: skip

MARKS = (".rageval", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg")
"""One of them lies in the rootdir."""

NOTE = "used-recordings.txt"
RESULTS = "results.json"


@dataclass(frozen=True, slots=True)
class UsedRecordings:
    """Which recordings a run used.

    Attributes:
        run: the run's name.
        complete: whether it was a whole run: not narrowed to some tests, not interrupted, and every case scored.
        keys: of the recordings that it replayed or made.
    """

    run: str
    complete: bool
    keys: frozenset[str]


class StoredRun(NamedTuple):
    """A results.json that was read.

    Attributes:
        head: the run's name and when it started.
        results: the file's own content.
        run: the run that it tells of.
        choice: which matrix was wanted.
    """

    head: str
    results: dict[str, Any]
    run: Run
    choice: MatrixChoice


def rootdir(start: Path) -> Path:
    """Return the nearest folder, from ``start`` upwards, with an ini or ``.rageval`` in it, else ``start``."""
    return next((path for path in (start, *start.parents) if any((path / mark).exists() for mark in MARKS)), start)


def runs_of(root: Path) -> Path:
    """Return the folder of the runs of the project whose rootdir is ``root``."""
    return root / ".rageval" / "runs"


def used_recordings(root: Path, run: str | None) -> UsedRecordings | None:
    """Return what the run of that name used, or the newest run; None where there has been no run.

    Raises:
        SettingError: there is no run of that name, or it does not tell.
    """
    folder = _folder(root, run)
    if folder is None:
        return None
    try:
        head, *keys = (folder / NOTE).read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise SettingError(
            f"the run {folder.name} does not tell which recordings it used: there is no {NOTE} in {folder}; "
            "run all tests with --rag-record-mode, or name another run with --run"
        ) from error
    return UsedRecordings(folder.name, head.strip() == "# complete", frozenset(key.strip() for key in keys) - {""})


def results_path(root: Path, run: str | None) -> Path:
    """Return where the results of the run of that name are, or of the newest run.

    ``run`` may also be the path of the file, or of the folder that it is in.

    Raises:
        SettingError: there is no such run, or it left no results.
    """
    if run is not None and Path(run).is_file():
        return Path(run)
    folder = _folder(root, run)
    if run is not None and Path(run).is_dir() and not (runs_of(root) / run / RESULTS).is_file():
        folder = Path(run)
    if folder is None:
        raise SettingError(f"there is no run under {runs_of(root)} yet; run the tests first")
    path = folder / RESULTS
    if not path.is_file():
        why = f"left no {RESULTS}, cut short or still going on" if folder.is_dir() else f"is not under {folder.parent}"
        raise SettingError(f"the run {folder.name} {why}; name another run, or a file")
    return path


def stored_run(root: Path, run: str | None) -> StoredRun:
    """Return the run of that name, or the newest run; ``run`` may be the path of a results.json.

    Raises:
        SettingError: there is no such run, or its results cannot be read.
    """
    path = results_path(root, run)
    try:
        results = _whole(path.read_text(encoding="utf-8"))
        _check_schema(results, path)
        told, choice = run_of(results)
        head = f"run {results['run']['id'] or path.name}, started {results['run']['started']}"
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror or error}") from error
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        why = "it is cut short or of another version; name another run or file"
        raise SettingError(f"{path} is no results.json that this version can read: {why}") from error
    return StoredRun(head, results, told, choice)


def snapshot_named(root: Path, name: str) -> Snapshot:
    """Return what a baseline, a results.json or a run holds, as others are compared with it.

    Raises:
        DataError, SettingError: there is no such run, or it cannot be read.
    """
    path = Path(name)
    if path.is_file() and not _holds_results(path):
        return replace(read_baseline(path), path=name)
    stored = stored_run(root, name)
    told = stored.results["run"]
    where = name if path.exists() else ""
    return replace(stored.run.snapshot(), run=told["id"], versions=told["versions"], path=where)


def _whole(text: str) -> Any:
    """Return what JSON says; halves of surrogate pairs, as only other programs write, become their escapes."""
    read = parse_json(text, finite=True)
    if not re.search(r"\\u[dD][89abAB]", text):
        return read
    escaped = re.sub("[\ud800-\udfff]", lambda half: rf"\\u{ord(half[0]):04x}", json.dumps(read, ensure_ascii=False))
    return json.loads(escaped)


def _check_schema(results: dict[str, Any], path: Path) -> None:
    version = results.get("schema", SCHEMA)
    if version != SCHEMA:
        wanted = f"this version reads schema {SCHEMA}; update pytest-rageval, or name another run or file"
        raise SettingError(f"{path} is a results.json of schema {found(version)}, and {wanted}")


def _holds_results(path: Path) -> bool:
    """Return whether a file is, or was to be, a results.json and no baseline."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        plain = parse_json(text)
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError:
        return '"outcomes"' in text
    return isinstance(plain, dict) and "outcomes" in plain


def _folder(root: Path, run: str | None) -> Path | None:
    """Return the folder of the run of that name, whether it is there or not, or the newest run's."""
    runs = runs_of(root)
    if run is not None:
        return runs / run
    return max((path for path in runs.glob("*") if path.is_dir()), key=run_age, default=None)
