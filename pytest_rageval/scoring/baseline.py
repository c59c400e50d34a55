"""What baseline gates compare with: earlier scores, a results.json or a baseline file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_rageval.analysis.baseline.measured import Snapshot
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.model.derived_codec import decoder
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.baseline_file import read_baseline
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.snapshots import snapshot_of_outcomes
from pytest_rageval.scoring.folder import ScoreFolder, is_scores
from pytest_rageval.scoring.merge import outcomes_of

__all__ = ["baseline_at", "stored_scores"]

RESULTS = "results.json"


def baseline_at(path: Path) -> Snapshot:
    """Return the measures of a folder of scores, of a results.json or its folder, or of a baseline file.

    Raises:
        DataError, SettingError: there is no such file, or it cannot be read.
    """
    if is_scores(path):
        plan, outcomes = stored_scores(path)
        return replace(snapshot_of_outcomes(plan, outcomes, set(), ""), run=path.name, path=str(path))
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


def stored_scores(path: Path) -> tuple[Plan, list[Outcome]]:
    """Return the plan and the outcomes of a folder of scores."""
    folder = ScoreFolder(path)
    manifest = folder.manifest()
    plan = Plan(
        testbeds={key: decoder(TestbedPlan)(each, key) for key, each in manifest["testbeds"].items()},
        metrics={key: decoder(MetricInfo)(each) for key, each in manifest["metrics"].items()},
    )
    clusters = {key: testbed.cluster for key, testbed in plan.testbeds.items()}
    return plan, outcomes_of(folder.parts(), clusters, details=True)
