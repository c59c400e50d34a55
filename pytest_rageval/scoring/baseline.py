"""Read the baseline of gates: earlier scores, a results.json or a baseline file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.baseline_file import read_baseline
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.scoring.folder import is_scores
from pytest_rageval.scoring.read_scores import snapshot_of_scores

__all__ = ["baseline_at"]

RESULTS = "results.json"


def baseline_at(path: Path) -> Snapshot:
    """Return the measures of a folder of scores, of a results.json or its folder, or of a baseline file.

    Raises:
        DataError, SettingError: the file is missing, or cannot be read.
    """
    if is_scores(path):
        return snapshot_of_scores(path)
    if path.is_dir() and not (path / RESULTS).is_file():
        raise SettingError(f"the baseline {ascii_safe(str(path))} holds neither scores nor a {RESULTS}")
    file = path / RESULTS if path.is_dir() else path
    if file.name.endswith(".json") and file.is_file() and b'"outcomes"' in file.read_bytes():
        try:
            run, _ = run_of(parse_json(file.read_text(encoding="utf-8"), finite=True))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise SettingError(f"{ascii_safe(str(file))} is not a results.json of this version") from error
        return replace(run.snapshot(), path=str(path))
    return replace(read_baseline(file), path=str(path))
