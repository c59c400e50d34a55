"""Read a run from its results.json, to report it again or to compare with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from pytest_rageval.activity import doing, progress
from pytest_rageval.analysis.usage import calls_of
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.folders import regular_path
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import decode_outcome
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.baseline_file import snapshot_of
from pytest_rageval.report.files.plan_json import decode_plan
from pytest_rageval.report.files.results_json import SCHEMA
from pytest_rageval.report.files.stored_types import check_types
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections.deployment import DEPLOYMENT, Deployment
from pytest_rageval.report.sections.judge_bias import BIAS
from pytest_rageval.report.sections.judge_trust import TRUST
from pytest_rageval.report.sections.local_judges import LOCAL_JUDGES

__all__ = ["StoredRun", "read_run", "run_of"]


class StoredRun(NamedTuple):
    """A loaded results.json.

    Attributes:
        head: the line that names the run and its start, for reports.
        results: the content of the file.
        run: the run.
        choice: the matrix that the run selected.
    """

    head: str
    results: dict[str, Any]
    run: Run
    choice: MatrixChoice


def read_run(path: Path, *, gates: bool = True) -> StoredRun:
    """Read a results.json.

    Args:
        path: the file.
        gates: whether to evaluate the run's gates anew.

    Raises:
        SettingError: the file cannot be read, or is not a results.json of this version.
    """
    try:
        results = _parse(regular_path(path).read_text(encoding="utf-8"))
        _check_schema(results, path)
        run, choice = run_of(results, gates=gates)
        return StoredRun(
            f"run {results['run']['id'] or path.name}, started {results['run']['started']}", results, run, choice
        )
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror or error}", code="RAG212") from error
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        cause = "it is truncated or has another version; name another run or file"
        raise SettingError(
            f"{path} is not a results.json that this version can read: {cause}", code="RAG212"
        ) from error


def run_of(results: Mapping[str, Any], *, gates: bool = True) -> tuple[Run, MatrixChoice]:
    """Decode a results.json to the run and its choice of matrix.

    Every report can be written again from that run, including results.json.

    Args:
        results: the content of the file.
        gates: whether to evaluate the run's gates anew.

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
    _check_binary_scores(run)
    run.outcomes |= _with_answer_digests(results, run.outcomes)
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
    for deployment in DEPLOYMENT.read_rows(results) or [Deployment([], [], {})]:
        run.retrievers, run.stored_times = deployment.retrievers, (deployment.stages, deployment.queries)
    run.trusts = list(TRUST.read_rows(results))
    run.biases = list(BIAS.read_rows(results))
    run.local_uses = list(LOCAL_JUDGES.read_rows(results))
    if "baseline" in results:
        run.baseline = snapshot_of(results["baseline"], results["baseline"]["path"])
    if gates:
        with doing("evaluating gates"):
            run.evaluate_gates()
    return run, MatrixChoice(**results["plan"]["view"])


def _check_binary_scores(run: Run) -> None:
    """Raise `ValueError` if a score of a binary metric is out of range, because it would have no interval."""
    for outcome in run.outcomes.values():
        for name, score in outcome.scores.items():
            info = run.plan.metrics.get(name)
            if info is not None and info.binary and score.value is not None and not 0 <= score.value <= 1:
                raise ValueError(f"a score of {name} is not in 0..1")


def _with_answer_digests(results: Mapping[str, Any], outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return a shard's outcomes with digests as the texts of answers, by which labels match.

    Only a shard that was stored without texts has such digests; else the result is empty.
    """
    answers = results["plan"].get("dealt", {}).get("answers", ())
    pairs = zip(outcomes.items(), answers, strict=bool(answers))
    return {
        nodeid: replace(outcome, answer=replace(outcome.answer, text=text))
        for (nodeid, outcome), text in pairs
        if outcome.answer is not None
    }


def _parse(text: str) -> Any:
    """Parse JSON; lone surrogates, which only other programs write, become their escapes."""
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
