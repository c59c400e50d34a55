"""A small sample run and its results.json, for the tests of commands."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.files.run_folder import write_atomically
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

__all__ = ["FORMULA", "NOISE", "PLAIN", "STARTED", "stored_run", "take", "write_results", "write_stored_run"]

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
NOISE, PLAIN = "test_a.py::test_noise", "test_a.py::test_plain"
FORMULA = "=cmd|' /C §'!A0"


def stored_run(*, texts: bool = True) -> Run:
    """Return a run of two testbeds: one case scored in part, one that failed, one whose answer is a formula."""
    usage = Usage(10, 5, 0.25, 0.5)
    answer = Answer("§ Paris", usage=usage)
    hostile = "50% & \\input{x}_1"
    outcomes = [
        _outcome(NOISE, "q2", "A", answer, accuracy=Score(1.0), token_f1=Score(reason="not_applicable")),
        _outcome(NOISE, "q1", "B", None),
        _outcome(PLAIN, "q3", hostile, Answer(FORMULA, usage=usage), token_f1=Score(-0.5)),
    ]
    plan = Plan(
        testbeds={
            NOISE: TestbedPlan(NOISE, "test_noise", ("accuracy", "token_f1")),
            PLAIN: TestbedPlan(PLAIN, "test_plain", ("token_f1",)),
        },
        cases={each.nodeid: (each.case_id, each.testbed, each.system, 0) for each in outcomes},
        metrics={"accuracy": MetricInfo(binary=True), "token_f1": MetricInfo()},
        session_gates=("error_rate <= 0.5",),
        fingerprint="sha256:0",
    )
    run = Run(STARTED, plan, texts=texts, settings={"rag_model": "openai/m", "rag_prompts.en": "0123456789abcdef"})
    take(run, *outcomes)
    run.evaluate_gates()
    return run


def take(run: Run, *outcomes: Outcome) -> None:
    """Add outcomes to the run, like outcomes from worker processes."""
    for each in outcomes:
        run.take(encode_outcome(each), None)


def write_results(run: Run, path: Path) -> None:
    """Write a run's results.json."""
    write_atomically(path, results_of(run, "r1", STARTED + timedelta(seconds=2), MatrixChoice()))


def write_stored_run(path: Path, *, texts: bool = True) -> None:
    """Write the results.json of `stored_run`."""
    write_results(stored_run(texts=texts), path)


def _outcome(testbed: str, name: str, topic: str, answer: Answer | None, **scores: Score) -> Outcome:
    facets = {"topic": topic, "task": "qa", "system": "mine"} | ({"noise_rate": "0.4"} if testbed == NOISE else {})
    nodeid = f"{testbed}[{name}]"
    if answer is None:
        return Outcome(nodeid, name, testbed, facets, "mine", "error", error="§ it broke", error_type="system_error")
    return Outcome(nodeid, name, testbed, facets, "mine", "scored", answer, scores)
