"""Find the project in which a command runs, and read its stored runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.activity import doing
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.read_results import StoredRun, read_run
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.files.run_names import find_run, stored_runs
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.scoring.folder import MANIFEST, is_scores

__all__ = [
    "RESULTS", "UsedRecordings", "holds_results", "results_path", "rootdir", "runs_of", "stored_run",
    "used_recordings",
]  # fmt: skip

PROJECT_FILES = (".rageval", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg")
"""Names of files and folders; a folder with one of them is a project's rootdir."""

USED_RECORDINGS = "used-recordings.txt"
"""The file in a run's folder that lists the recordings it used."""

RESULTS = "results.json"


@dataclass(frozen=True, slots=True)
class UsedRecordings:
    """The recordings that a run used.

    Attributes:
        run: the run's name.
        complete: whether the run ran all tests to the end and scored every case.
        keys: the keys of the recordings that it replayed or wrote.
    """

    run: str
    complete: bool
    keys: frozenset[str]


def rootdir(start: Path) -> Path:
    """Return the nearest folder, from ``start`` upwards, with an ini or ``.rageval``; else ``start``."""
    return next(
        (path for path in (start, *start.parents) if any((path / name).exists() for name in PROJECT_FILES)), start
    )


def runs_of(root: Path) -> Path:
    """Return the folder of the project's runs; ``root`` is its rootdir."""
    return root / ".rageval" / "runs"


def used_recordings(root: Path, run: str | None) -> UsedRecordings | None:
    """Return the recordings that a run used, by default the newest; None if the project has no run.

    Raises:
        SettingError: the run is unknown, or has no list of its recordings.
    """
    folder = _folder(root, run)
    if folder is None:
        return None
    try:
        head, *keys = (folder / USED_RECORDINGS).read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise SettingError(
            f"the run {folder.name} has no list of its recordings: {USED_RECORDINGS} is missing in {folder}; "
            "run all tests with --rag-record-mode, or name another run with --run"
        ) from error
    return UsedRecordings(folder.name, head.strip() == "# complete", frozenset(key.strip() for key in keys) - {""})


def results_path(root: Path, run: str | None) -> Path:
    """Return the path of a run's results.json, by default the newest run's.

    ``run`` is a name as `find_run` reads it, the path of the file, or the path of its folder.

    Raises:
        SettingError: the run is unknown or has no results.
    """
    if run is not None and is_scores(Path(run)):
        return Path(run) / MANIFEST
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
        return _read_scores(path.parent) if is_scores(path.parent) else read_run(path)


def _read_scores(path: Path) -> StoredRun:
    """Read a folder of scores, written by ``rageval score``, as a run."""
    from pytest_rageval.scoring.read_scores import run_of_scores

    run, choice = run_of_scores(path), MatrixChoice()
    results = results_of(run, path.name, run.started, choice)
    return StoredRun(f"scores {ascii_safe(str(path))}", results, run, choice)


def holds_results(path: Path) -> bool:
    """Return whether a file is a results.json, which may be truncated, and not a baseline."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        plain = parse_json(text)
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror or error}", code="RAG212") from error
    except ValueError:
        return '"outcomes"' in text
    return isinstance(plain, dict) and "outcomes" in plain


def _folder(root: Path, run: str | None) -> Path | None:
    """Return the folder or file of a run, by default the newest; None if the project has no run."""
    if run is not None:
        return find_run(runs_of(root), run)
    return next(iter(stored_runs(runs_of(root))), None)
