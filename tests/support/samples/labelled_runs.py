"""Sample runs with labelled answers, for the tests of ``rageval agreement``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.cli import main
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Instance, Passage, Turn
from pytest_rageval.model.codec import encode_instance, encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.files.run_folder import write_atomically
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from support.codes import without_code

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
TESTBED = "t.py::t"
JUDGED_METRICS = ("rejection_rate_judged", "error_detection_rate_judged", "completeness", "polite")


def outcome_of(name: str, text: str = "", system: str = "mine", **scores: float | str) -> Outcome:
    """Return an outcome with scores; a string is the reason of an unscored value."""
    case_scores = {
        key: Score(reason=value) if isinstance(value, str) else Score(value) for key, value in scores.items()
    }
    facets = {"topic": "Fares" if name < "q5" else "Ferries", "task": "qa", "language": "en"}
    nodeid = f"{TESTBED}[{name}-{system}]"
    return Outcome(
        nodeid, name, TESTBED, facets, system, "scored", Answer(text or f"It is {name}."), case_scores, ("p0",)
    )


def write_run(folder: Path, outcomes: Iterable[Outcome], *, texts: bool = True) -> Path:
    """Write a run's results.json and return its path."""
    outcome_list = list(outcomes)
    names = {
        name: MetricInfo(of="retrieval" if name == "AP" else "answer", judge=name if name in JUDGED_METRICS else "")
        for each in outcome_list
        for name in each.scores
    }
    cases = {each.nodeid: (each.case_id, TESTBED, each.system, 0) for each in outcome_list}
    plan = Plan({TESTBED: TestbedPlan(TESTBED, "t", tuple(names), (), len(outcome_list))}, cases, [{}], names)
    run = Run(STARTED, plan, texts=texts)
    for each in outcome_list:
        pool = (Passage("p0", f"Evidence of {each.case_id}.", "Title", "positive"), Passage("n0", "Noise."))
        gold = ((f"gold {each.case_id}", "alias"),)
        instance = Instance(each.case_id, f"=What is {each.case_id}?", gold, pool, history=(Turn("Hello?", "Hi."),))
        run.take(encode_outcome(each), encode_instance(instance))
    path = folder / "results.json"
    write_atomically(path, results_of(run, "r1", STARTED, MatrixChoice()))
    return path


def write_labels(folder: Path, *rows: dict[str, Any]) -> str:
    """Write a file of labels and return its name."""
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "labels.jsonl"


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run ``rageval agreement`` and return its output."""
    assert main(["agreement", *arguments]) == 0
    out, err = capsys.readouterr()
    assert not err
    return out


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command and return its error message."""
    assert main(["agreement", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    (line,) = err.splitlines()
    return without_code(line.removeprefix("rageval: "))
