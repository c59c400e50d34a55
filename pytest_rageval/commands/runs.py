"""Find the project of a command and read its runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.errors import SettingError
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.read_results import StoredRun, read_run
from pytest_rageval.report.files.run_names import find_run, stored_runs

__all__ = [
    "RESULTS", "UsedRecordings", "holds_results", "results_path", "rootdir", "runs_of", "stored_run",
    "used_recordings",
]  # fmt: skip

MARKS = (".rageval", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg")
"""The rootdir contains one of these."""

NOTE = "used-recordings.txt"
RESULTS = "results.json"


@dataclass(frozen=True, slots=True)
class UsedRecordings:
    """The recordings that a run used.

    Attributes:
        run: the run's name.
        complete: whether the run had all tests, was not interrupted, and scored every case.
        keys: the keys of the recordings that it replayed or wrote.
    """

    run: str
    complete: bool
    keys: frozenset[str]


def rootdir(start: Path) -> Path:
    """Return the nearest folder, from ``start`` upwards, with an ini or ``.rageval``; else ``start``."""
    return next((path for path in (start, *start.parents) if any((path / mark).exists() for mark in MARKS)), start)


def runs_of(root: Path) -> Path:
    """Return the folder of the project's runs; ``root`` is its rootdir."""
    return root / ".rageval" / "runs"


def used_recordings(root: Path, run: str | None) -> UsedRecordings | None:
    """Return the recordings of a run, by default the newest; None without any run.

    Raises:
        SettingError: the run is unknown, or has no list of its recordings.
    """
    folder = _folder(root, run)
    if folder is None:
        return None
    try:
        head, *keys = (folder / NOTE).read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise SettingError(
            f"the run {folder.name} has no list of its recordings: {NOTE} is missing in {folder}; "
            "run all tests with --rag-record-mode, or name another run with --run"
        ) from error
    return UsedRecordings(folder.name, head.strip() == "# complete", frozenset(key.strip() for key in keys) - {""})


def results_path(root: Path, run: str | None) -> Path:
    """Return the path of a run's results.json, by default the newest run's.

    ``run`` is a name as `find_run` reads it, the path of the file, or the path of its folder.

    Raises:
        SettingError: the run is unknown or has no results.
    """
    folder = _folder(root, run)
    if folder is None:
        raise SettingError(f"no run under {runs_of(root)} yet; run the tests first", code="RAG212")
    path = folder if folder.is_file() else folder / RESULTS
    if not path.is_file():
        problem = f"has no {RESULTS}: cut short or still running"
        raise SettingError(f"the run {folder.name} {problem}; name another run, or a file")
    return path


def stored_run(root: Path, run: str | None) -> StoredRun:
    """Load a run by name or by the path of its results.json, by default the newest.

    Raises:
        SettingError: the run is unknown, or its results cannot be read.
    """
    path = results_path(root, run)
    with doing(f"reading {path}"):
        return read_run(path)


def holds_results(path: Path) -> bool:
    """Return whether a file is a results.json, perhaps truncated, and not a baseline."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        plain = parse_json(text)
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror or error}", code="RAG212") from error
    except ValueError:
        return '"outcomes"' in text
    return isinstance(plain, dict) and "outcomes" in plain


def _folder(root: Path, run: str | None) -> Path | None:
    """Return the folder or file of a run, by default the newest run's; None without any run."""
    if run is not None:
        return find_run(runs_of(root), run)
    return next(iter(stored_runs(runs_of(root))), None)
