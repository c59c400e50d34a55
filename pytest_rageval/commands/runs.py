"""Find the project of a command and read its runs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_rageval.analysis.baseline.measured import Snapshot
from pytest_rageval.errors import SettingError, ascii_safe, short_repr
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.baseline_file import read_baseline
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.files.results_json import SCHEMA, results_of
from pytest_rageval.report.files.run_folder import run_age
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.scoring.folder import MANIFEST, is_scores

__all__ = [
    "StoredRun", "UsedRecordings", "load_snapshot", "results_path", "rootdir", "runs_of", "stored_run",
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


class StoredRun(NamedTuple):
    """A loaded results.json.

    Attributes:
        head: the run's name and start time.
        results: the content of the file.
        run: the run.
        choice: the selected matrix.
    """

    head: str
    results: dict[str, Any]
    run: Run
    choice: MatrixChoice


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

    ``run`` is a name, the path of the file, or the path of its folder.

    Raises:
        SettingError: the run is unknown or has no results.
    """
    if run is not None and (Path(run).is_file() or is_scores(Path(run))):
        return Path(run) / MANIFEST if Path(run).is_dir() else Path(run)
    folder = _folder(root, run)
    if run is not None and Path(run).is_dir() and not (runs_of(root) / run / RESULTS).is_file():
        folder = Path(run)
    if folder is None:
        raise SettingError(f"no run under {runs_of(root)} yet; run the tests first", code="RAG212")
    path = folder / RESULTS
    if not path.is_file():
        missing = f"has no {RESULTS}: cut short or still running"
        why = missing if folder.is_dir() else f"is not under {folder.parent}"
        raise SettingError(f"the run {folder.name} {why}; name another run, or a file")
    return path


def stored_run(root: Path, run: str | None) -> StoredRun:
    """Load a run by name or by the path of its results.json, by default the newest.

    Raises:
        SettingError: the run is unknown, or its results cannot be read.
    """
    if run is not None and is_scores(Path(run)):
        return _scores(Path(run))
    path = results_path(root, run)
    try:
        results = _parse(path.read_text(encoding="utf-8"))
        _check_schema(results, path)
        content, choice = run_of(results)
        head = f"run {results['run']['id'] or path.name}, started {results['run']['started']}"
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror or error}", code="RAG212") from error
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        why = "it is truncated or has another version; name another run or file"
        raise SettingError(f"{path} is not a results.json that this version can read: {why}", code="RAG212") from error
    return StoredRun(head, results, content, choice)


def load_snapshot(root: Path, name: str) -> Snapshot:
    """Load a baseline, a results.json or a run as a snapshot for comparisons.

    Raises:
        DataError, SettingError: the run is unknown or cannot be read.
    """
    path = Path(name)
    if is_scores(path):
        from pytest_rageval.scoring.stored import snapshot_of_scores

        return snapshot_of_scores(path)
    if path.is_file() and not _holds_results(path):
        return replace(read_baseline(path), path=name)
    stored = stored_run(root, name)
    info = stored.results["run"]
    where = name if path.exists() else ""
    return replace(stored.run.snapshot(), run=info["id"], versions=info["versions"], path=where)


def _scores(path: Path) -> StoredRun:
    """Return the run of a folder of scores."""
    from pytest_rageval.scoring.stored import run_of_scores

    run, choice = run_of_scores(path), MatrixChoice()
    results = results_of(run, path.name, run.started, choice)
    return StoredRun(f"scores {ascii_safe(str(path))}", results, run, choice)


def _parse(text: str) -> Any:
    """Parse JSON; lone surrogates, written only by other programs, become their escapes."""
    plain = parse_json(text, finite=True)
    if not re.search(r"\\u[dD][89abAB]", text):
        return plain
    escaped = re.sub("[\ud800-\udfff]", lambda half: rf"\\u{ord(half[0]):04x}", json.dumps(plain, ensure_ascii=False))
    return json.loads(escaped)


def _check_schema(results: dict[str, Any], path: Path) -> None:
    version = results.get("schema", SCHEMA)
    if version != SCHEMA:
        advice = "update pytest-rageval, or name another run or file"
        raise SettingError(f"{path} has schema {short_repr(version)}, but this version reads schema {SCHEMA}; {advice}")


def _holds_results(path: Path) -> bool:
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
    """Return the folder of a run, even if missing, or the newest run's."""
    runs = runs_of(root)
    if run is not None:
        return runs / run
    return max((path for path in runs.glob("*") if path.is_dir()), key=run_age, default=None)
