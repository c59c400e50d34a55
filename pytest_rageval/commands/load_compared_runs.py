"""Load the two runs of a comparison, and attach the earlier one's answers to the later one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_rageval.activity import doing
from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.commands.runs import holds_results, stored_run
from pytest_rageval.report.files.answers_file import answers_path, read_answers
from pytest_rageval.report.files.baseline_file import read_baseline
from pytest_rageval.report.files.read_results import StoredRun
from pytest_rageval.report.run.old_answers import AnswerSource, answers_of
from pytest_rageval.report.run.run import Run
from pytest_rageval.scoring.folder import is_scores

__all__ = ["ComparedRuns", "load_compared_runs"]


class ComparedRuns(NamedTuple):
    """Two runs.

    Attributes:
        before: the measures of the earlier run.
        after: the measures of the later run.
        run: the later run. Its baseline is the earlier run, and ``run.old`` has the answers of that run. None if the
            later run is a baseline or scores, which have measures only.
        stored: the later run with its results.json; None if ``run`` is None.
    """

    before: Snapshot
    after: Snapshot
    run: Run | None
    stored: StoredRun | None


def load_compared_runs(root: Path, base: str, new: str) -> ComparedRuns:
    """Load two runs; each is a baseline, a results.json, or a run's name or folder.

    The answers of a baseline are read from the file of answers next to it, if there is one.

    Raises:
        DataError, SettingError: a run is unknown or cannot be read, or a baseline's answers are malformed.
    """
    before, earlier = _load(root, base)
    after, stored = _load(root, new)
    run = None if stored is None else stored.run
    if run is not None:
        run.baseline, run.source = before, _answers(base, None if earlier is None else earlier.run)
        # `was` has values of the baseline of the run's session, not of `base`
        run.outcomes = {nodeid: replace(each, was=None) for nodeid, each in run.outcomes.items()}
    return ComparedRuns(before, after, run, stored)


def _load(root: Path, name: str) -> tuple[Snapshot, StoredRun | None]:
    path = Path(name)
    if is_scores(path):
        from pytest_rageval.scoring.read_scores import snapshot_of_scores

        return snapshot_of_scores(path), None
    with doing(f"reading {path}"):
        if path.is_file() and not holds_results(path):
            return replace(read_baseline(path), path=name), None
    stored = stored_run(root, name)
    info = stored.results["run"]
    where = name if path.exists() else ""
    return replace(stored.run.snapshot(), run=info["id"], versions=info["versions"], path=where), stored


def _answers(name: str, run: Run | None) -> AnswerSource:
    if run is not None:
        return AnswerSource(name, answers_of(run.outcomes.values()) if run.texts else ())
    path = answers_path(Path(name))
    return AnswerSource(path.name, read_answers(path)) if path.is_file() else AnswerSource()
