"""Read a run from its results.json, to draw its report again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from pytest_rageval.activity import doing, progress
from pytest_rageval.analysis.usage import calls_of
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import decode_outcome
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.files.baseline_file import snapshot_of
from pytest_rageval.report.files.plan_json import decode_plan
from pytest_rageval.report.files.stored_types import check_types
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections.deployment import DEPLOYMENT, Deployment
from pytest_rageval.report.sections.judge_trust import TRUST

__all__ = ["run_of"]


def run_of(results: Mapping[str, Any]) -> tuple[Run, MatrixChoice]:
    """Return the run of a results.json, with its gates evaluated anew, and its choice of matrix.

    Every report of the run can be drawn from it again, including results.json.

    Raises:
        AttributeError, KeyError, OverflowError, TypeError, ValueError: ``results`` does not have the shape of the
            schema.
    """
    check_types(results)
    head = results["run"]
    started = datetime.fromisoformat(head["started"])
    _ = started + timedelta(seconds=head["duration_s"])  # raises here instead of in a report
    run = Run(started, decode_plan(results), interrupted=head["interrupted"])
    run.outcomes = {
        plain["nodeid"]: run.plan.with_cluster(decode_outcome(plain))
        for plain in progress("decoding outcome", results["outcomes"])
    }
    _check_rates(run)
    run.outcomes |= _with_stand_ins(results, run.outcomes)
    run.records = {plain["nodeid"]: plain for plain in results["outcomes"]}
    run.instances = dict(results["instances"])
    run.texts = all("question" in instance for instance in results["instances"].values())
    run.versions = dict(head["versions"])
    run.failed, run.exitstatus = tuple(head.get("failed", ())), head.get("exitstatus", 0)
    run.resumed = head.get("resumed", {})
    run.settings = head.get("settings", {})
    claimed = asdict(calls_of(run.outcomes.values(), Calls()))
    usage = dict(results["usage"])
    usage |= usage.pop("at_least", {})
    unclaimed: dict[str, Any] = {
        key: None if total is None else total - (claimed[key] or 0) for key, total in usage.items()
    }
    run.unclaimed = Calls(**unclaimed)
    _ = run.unclaimed + Calls()  # raises if a count is not a number
    for deployment in DEPLOYMENT.stored(results) or [Deployment([], [], {})]:
        run.retrievers, run.measured = deployment.retrievers, (deployment.stages, deployment.queries)
    run.trusts = list(TRUST.stored(results))
    if "baseline" in results:
        run.baseline = snapshot_of(results["baseline"], results["baseline"]["path"])
    with doing("evaluating gates"):
        run.evaluate_gates()
    return run, MatrixChoice(**results["plan"]["view"])


def _check_rates(run: Run) -> None:
    """Raise `ValueError` if a score of a binary metric is out of range, because it would have no interval."""
    for outcome in run.outcomes.values():
        for name, score in outcome.scores.items():
            info = run.plan.metrics.get(name)
            if info is not None and info.binary and score.value is not None and not 0 <= score.value <= 1:
                raise ValueError(f"a score of {name} is not in 0..1")


def _with_stand_ins(results: Mapping[str, Any], outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return the outcomes of a shard without texts, with the digests of answers as text: labels match by them."""
    answers = results["plan"].get("dealt", {}).get("answers", ())
    pairs = zip(outcomes.items(), answers, strict=bool(answers))
    return {
        nodeid: replace(outcome, answer=replace(outcome.answer, text=text))
        for (nodeid, outcome), text in pairs
        if outcome.answer is not None
    }
