"""Read a folder of scores, written by ``rageval score``, as a run, for commands that need a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.model.codec import encode_outcome, without_texts
from pytest_rageval.model.derived_codec import decoder
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.snapshots import snapshot_of_outcomes
from pytest_rageval.scoring.folder import TEXT, ScoreFolder
from pytest_rageval.scoring.parts import read_part
from pytest_rageval.scoring.rows import OutcomeDecoder

__all__ = ["run_of_scores", "snapshot_of_scores", "summary_text"]


def run_of_scores(path: Path) -> Run:
    """Read a folder of scores as a run without texts.

    Gates that compare with a baseline are left out; a note names them, and the file of the summary has their results.
    """
    started, plan, outcomes = _read(path)
    left_out = [text for testbed in plan.testbeds.values() for text in testbed.gates if parse_gate(text).baseline]
    for nodeid, testbed in plan.testbeds.items():
        plan.testbeds[nodeid] = replace(testbed, gates=tuple(text for text in testbed.gates if text not in left_out))
    if left_out:
        plan.notes += (f"gates with a baseline are left out here ({', '.join(left_out)}); {TEXT} has their results",)
    run = Run(datetime.fromisoformat(started), plan, texts=False)
    for outcome in outcomes:
        plan.cases[outcome.nodeid] = (outcome.case_id, outcome.testbed, outcome.system, 0)
        run.outcomes[outcome.nodeid] = outcome
        run.records[outcome.nodeid] = without_texts(encode_outcome(outcome))
    run.evaluate_gates()
    return run


def snapshot_of_scores(path: Path) -> Snapshot:
    """Return the measures of a folder of scores, to compare it with a run."""
    started, plan, outcomes = _read(path)
    return replace(snapshot_of_outcomes(plan, outcomes, set(), started), run=path.name, path=str(path))


def summary_text(path: Path) -> Iterator[str]:
    """Yield the lines of the summary of a folder of scores."""
    manifest = ScoreFolder(path).manifest()
    yield f"scores {ascii_safe(str(path))}, started {manifest['started']}"
    yield from (path / TEXT).read_text(encoding="utf-8").splitlines()


def _read(path: Path) -> tuple[str, Plan, list[Outcome]]:
    """Return the start time, the plan and the outcomes."""
    folder = ScoreFolder(path)
    manifest = folder.manifest()
    try:
        plan = Plan(
            testbeds={key: decoder(TestbedPlan)(each, key) for key, each in manifest["testbeds"].items()},
            metrics={key: decoder(MetricInfo)(each) for key, each in manifest["metrics"].items()},
        )
        clusters = {key: testbed.cluster for key, testbed in plan.testbeds.items()}
        return str(manifest["started"]), plan, _outcomes(folder.parts(), clusters)
    except (AttributeError, EOFError, KeyError, OSError, TypeError, ValueError) as error:
        problem = f"{ascii_safe(str(path))} holds damaged scores"
        raise SettingError(f"{problem}; score the answers again into a new folder", code="RAG212") from error


def _outcomes(parts: Sequence[Path], clusters: Mapping[str, str]) -> list[Outcome]:
    outcomes = OutcomeDecoder(clusters, details=True)
    return [outcomes.decode(row) for part in parts for row in read_part(part)]
