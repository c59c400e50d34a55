"""A stored results.json gives the same report as its run."""

from __future__ import annotations

from dataclasses import replace
from datetime import timezone
from typing import Any

import jsonschema
import pytest
from support.samples.run_samples import FINISHED, NOISE, PLAIN, STARTED, finished_run, outcome, plan, take

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Score
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.files.results_json import results_of, schema
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.plan import Shard
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.terminal.summary import summary_lines

VIEWS = [MatrixChoice(), MatrixChoice("token_f1", "task", "topic"), MatrixChoice("n")]


def stored_results(run: Run, choice: MatrixChoice = VIEWS[0]) -> dict[str, Any]:
    run.evaluate_gates()
    return decode_results(results_of(run, "r1", FINISHED, choice))


def assert_same_summary(run: Run, choice: MatrixChoice = VIEWS[0]) -> None:
    """Assert that the stored run has the same summary, including colours."""
    stored_run, expected = run_of(stored_results(run, choice))
    assert expected == choice
    assert stored_run.started == STARTED.astimezone(timezone.utc)
    assert list(summary_lines(stored_run, expected, 100, 1)) == list(summary_lines(run, choice, 100, 1))


@pytest.mark.parametrize("choice", VIEWS)
@pytest.mark.parametrize("texts", [True, False])
def test_a_stored_run_has_the_same_summary(choice: MatrixChoice, texts: bool) -> None:
    assert_same_summary(finished_run(texts=texts), choice)


@pytest.mark.parametrize("texts", [True, False])
def test_a_stored_run_has_the_same_results(texts: bool) -> None:
    run = finished_run(texts=texts)
    run.failed, run.exitstatus = (f"{NOISE}[q1]",), 1
    run.versions = {"embedder": "e5"}
    content = stored_results(run)
    stored_run, choice = run_of(content)
    assert decode_results(results_of(stored_run, "r1", FINISHED, choice)) == content


def test_a_reread_shard_is_still_a_shard() -> None:
    run = finished_run()
    run.plan.shard = Shard(2, 3, 11, "whole", (7, 3, 9, 5))
    content = stored_results(run)
    assert content["plan"]["dealt"]["places"] == [7, 3, 5, 9]  # the unfinished case is last
    stored_run, choice = run_of(content)
    assert decode_results(results_of(stored_run, "r1", FINISHED, choice)) == content
    assert_same_summary(run)


@pytest.mark.parametrize(
    "unclaimed",
    [
        Calls(3, 1, 2, 10, 5, 0.5, 0.25),
        Calls(1, 0, 1, None, None, None, None),
        Calls(20, 0, 20, 160, 80, 0.5, 0.5, on_their_way=4),
    ],
)
def test_a_stored_interrupted_run_has_the_same_unclaimed_calls(unclaimed: Calls) -> None:
    run = finished_run()
    run.interrupted, run.unclaimed = True, unclaimed
    run.plan.unselected = 7
    answer = replace(outcome(PLAIN, "q3", token_f1=Score(0.5)), calls=Calls(2, 0, 2, 30, 4, 0.125, 0.125))
    assert_same_summary(take(run, answer))


def test_a_stored_run_has_the_same_repeats_and_correlations() -> None:
    expected = plan()
    expected.testbeds = {NOISE: replace(expected.testbeds[NOISE], metrics=("accuracy", "erag:P@5", "R@5"))}
    expected.metrics |= {name: MetricInfo(of="retrieval", downstream=False) for name in ("erag:P@5", "R@5")}
    run = Run(STARTED, expected)
    for at in range(12):
        scores = {"accuracy": Score(float(at % 3 > 0)), "erag:P@5": Score(at % 4 / 4), "R@5": Score(1.0)}
        each = outcome(NOISE, "q1")
        facets = {**each.facets, "repeat": str(at % 2 + 1)}
        take(run, replace(each, nodeid=f"{NOISE}[c{at}]", case_id=f"c{at // 2}", facets=facets, scores=scores))
    assert_same_summary(run)
    rows = [line.text.split() for line in summary_lines(run, VIEWS[0], 120, 1)]
    (varying,) = [row for row in rows if row[1:3] == ["erag:P@5", "accuracy"]]
    (constant,) = [row for row in rows if row[1:3] == ["R@5", "accuracy"]]
    correlation = run.correlations()[0].correlation
    assert correlation.tau_b is not None
    assert varying[3:5] == ["6", f"{correlation.tau_b:+.2f}"]
    assert constant[3:] == ["6", "undefined", "one", "is", "constant"]


def test_a_stored_run_has_the_same_differences_and_row_groups() -> None:
    run = Run(STARTED, plan())
    for system, offset in (("zeta", 1), ("alpha", 0)):
        for at in range(12):
            facets = {"topic_1": "XY"[at // 8], "topic": "ABC"[at // 4], "task": "qa", "system": system}
            each = replace(outcome(NOISE, "q1", accuracy=Score(float((at + offset) % 3 > 0))), case_id=f"c{at}")
            nodeid = f"{NOISE}[c{at}-system={system}]"
            run.plan.cases[nodeid] = (each.case_id, NOISE, system, 0)
            take(run, replace(each, nodeid=nodeid, facets=facets, system=system))
    content = stored_results(run)
    validate(content)
    (difference,) = content["differences"]
    assert (difference["system"], difference["minus"]) == ("alpha", "zeta")  # the order of the outcomes
    assert [group["name"] for group in difference["row_groups"]["groups"]] == ["X", "Y"]
    assert difference["total"]["n"] == 12
    assert "minus" not in content["matrices"][0]
    assert_same_summary(run)
    texts = [line.text for line in summary_lines(run, VIEWS[0], 120, 1)]
    assert "accuracy by topic x task · zeta - mean (n); * < 5 cases; +k unscored" in texts
    legend = "mean difference (n); * < 5 cases; ! interval excludes 0; +k lack a value"
    at = texts.index(f"accuracy by topic x task · alpha - zeta - {legend}")
    assert [line.split()[0] for line in texts[at + 4 : at + 9]] == ["X", "A", "B", "Y", "C"]
    assert not run.differences(MatrixChoice("n"))
    assert not run.differences(MatrixChoice(rows="system"))


def validate(content: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema()).validate(content)


@pytest.mark.parametrize("key", ["plan", "outcomes", "testbeds", "usage", "run"])
def test_results_without_a_required_key_are_rejected(key: str) -> None:
    content = stored_results(finished_run())
    del content[key]
    with pytest.raises(KeyError):
        run_of(content)
