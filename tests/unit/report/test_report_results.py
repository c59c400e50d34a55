from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import jsonschema
import pytest
from support.samples.run_samples import (
    FINISHED,
    MARK,
    NOISE,
    PLAIN,
    STARTED,
    finished_run,
    instance,
    outcome,
    plan,
    take,
)

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Instance
from pytest_rageval.model.codec import encode_instance, encode_outcome
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.report.files.results_json import results_of, schema
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice


def results(run: Run, *, run_id: str = "r1") -> dict[str, Any]:
    return decode_results(results_of(run, run_id, FINISHED, MatrixChoice()))


def validate(content: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema(), format_checker=jsonschema.FormatChecker()).validate(content)


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_an_empty_run_is_valid() -> None:
    content = results(Run(STARTED), run_id="")
    validate(content)
    assert content == {
        "schema": 1,
        "account": {"verdict": "no case was run", "state": "open", "findings": []},
        "run": {
            "id": "",
            "started": "2026-01-02T03:04:05+00:00",
            "duration_s": 1.5,
            "versions": content["run"]["versions"],
            "fingerprint": "",
            "interrupted": False,
            "exitstatus": 0,
            "failed": [],
        },
        "testbeds": {},
        "plan": {
            "metrics": {}, "session_gates": [], "unmatched_gates": [], "unselected": 0, "unfinished": {}, "notes": [],
            "view": {"metric": None, "rows": None, "cols": None},
            "part": "", "narrowed": False, "alpha": 0.05, "inconclusive": "warn", "alpha_per": "session",
            "updates": False, "min_compared": 0.5, "partial_gates": "skip",
        },
        "totals": [],
        "instances": {},
        "outcomes": [],
        "gates": [],
        "matrix": None,
        "matrices": [],
        "usage": {
            "calls": 0, "replayed": 0, "attempts": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0,
            "spent_usd": 0,
        },
    }  # fmt: skip
    assert content["run"]["versions"]["pytest-rageval"] == version("pytest-rageval")
    assert {"python", "pytest"} <= set(content["run"]["versions"])


def test_correlations_are_stored_if_the_run_has_a_retrieval_metric() -> None:
    full_plan = plan()
    full_plan.testbeds = {NOISE: replace(full_plan.testbeds[NOISE], metrics=("accuracy", "erag:P@5"), gates=())}
    full_plan.metrics["erag:P@5"] = MetricInfo(of="retrieval", downstream=False)
    scores = {"accuracy": Score(1.0), "erag:P@5": Score(0.5)}
    content = results(take(Run(STARTED, full_plan), replace(outcome(NOISE, "q1"), scores=scores)))
    validate(content)
    assert content["correlations"] == [
        {
            "testbed": NOISE, "system": "mine", "retrieval": "erag:P@5", "downstream": "accuracy", "n": 1,
            "tau_b": {"value": None, "ci95": None}, "rho": {"value": None, "ci95": None}, "reason": "too_few",
        }
    ]  # fmt: skip
    assert "correlations" not in results(finished_run())


@pytest.mark.parametrize("metric", ["erag:P@5", "R@5"])
def test_correlations_have_intervals_only_if_the_summary_shows_them(metric: str) -> None:
    full_plan = plan()
    full_plan.testbeds = {NOISE: replace(full_plan.testbeds[NOISE], metrics=("accuracy", metric), gates=())}
    full_plan.metrics[metric] = MetricInfo(of="retrieval", downstream=False)
    run = Run(STARTED, full_plan)
    for at in range(9):
        scores = {"accuracy": Score(float(at % 2)), metric: Score(at / 9)}
        take(run, replace(outcome(NOISE, "q1"), nodeid=f"{NOISE}[c{at}]", case_id=f"c{at}", scores=scores))
    content = results(run)
    validate(content)
    [row] = content["correlations"]
    for estimate in (row["tau_b"], row["rho"]):
        assert estimate["value"] is not None
        assert (estimate["ci95"] is not None) == metric.startswith("erag:")


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("interrupted", [True, False])
def test_a_run_with_everything_is_valid(texts: bool, interrupted: bool) -> None:
    run = finished_run(texts=texts)
    if not interrupted:
        take(run, outcome(NOISE, "late", accuracy=Score(0.0)))
    run.interrupted = interrupted
    run.evaluate_gates()
    content = results(run)
    validate(content)
    assert content["run"]["interrupted"] is interrupted
    assert {gate["status"] for gate in content["gates"]} == ({"skipped"} if interrupted else {"failed", "passed"})
    assert len(content["outcomes"]) == (3 if interrupted else 4)
    assert set(content["testbeds"]) == {NOISE, PLAIN}


def test_results_without_texts_contain_no_text_of_data_or_answers() -> None:
    with_texts, without_texts = finished_run(), finished_run(texts=False)
    with_texts.evaluate_gates()
    without_texts.evaluate_gates()
    assert json.dumps(results(with_texts), ensure_ascii=False).count(MARK) > 20
    assert MARK not in json.dumps(results(without_texts), ensure_ascii=False)


def test_outcomes_and_instances_are_unchanged_and_in_data_order() -> None:
    run = finished_run()
    content = results(run)
    assert content["outcomes"] == [encode_outcome(o) for o in run.ordered()]
    assert list(content["instances"]) == ["q1", "q2", "q3"]
    assert content["instances"]["q1"] == encode_instance(instance("q1"))


def test_a_gate_is_stored_with_its_numbers_cells_and_worst_cases() -> None:
    run = take(finished_run(), outcome(NOISE, "late", accuracy=Score(0.0)))
    run.evaluate_gates()
    gate, rate, _ = results(run)["gates"]
    result = run.gates[0].result
    assert result.ci95 is not None
    assert gate == {
        "expr": "accuracy[topic=*] >= 0.9",
        "scope": "test_noise",
        "nodeid": f"{NOISE}[gate: accuracy[topic=*] >= 0.9]",
        "slice": {"topic": "A"},
        "status": "failed",
        "value": 0.5,
        "n": 2,
        "n_errors": 1,
        "ci95": list(result.ci95),
        "baseline": None,
        "p_value": None,
        "verdict": None,
        "reason": "accuracy is 0.5 at topic=A",
        "worst": [{"nodeid": f"{NOISE}[late]", "value": 0.0}, {"nodeid": f"{NOISE}[q2]", "value": 1.0}],
        "cells": [{"slice": {"topic": "A"}, "status": "failed", "value": 0.5, "n": 2, "ci95": list(result.ci95)}],
    }
    assert (rate["expr"], rate["slice"], rate["cells"]) == ("error_rate <= 50%", {}, [])


def test_the_matrix_is_the_first_of_the_matrices() -> None:
    content = results(finished_run())
    assert content["matrix"] == content["matrices"][0]
    assert [m["metric"] for m in content["matrices"]] == ["accuracy", "token_f1"]
    cell = {"mean": 1.0, "n": 1, "n_unscored": 1, "ci95": content["matrix"]["total"]["ci95"]}
    assert content["matrix"] == {
        "metric": "accuracy", "system": "", "row_facet": "topic", "col_facet": "task", "rows": ["A"], "cols": ["qa"],
        "cells": [[cell]], "row_margin": [cell], "col_margin": [cell], "total": cell,
        "row_macro": [1.0], "col_macro": [1.0], "total_macro": 1.0,
    }  # fmt: skip


def test_usage_is_summed_and_unknown_if_a_part_is_unknown() -> None:
    run = finished_run()
    assert results(run)["usage"] == {
        "calls": 3, "replayed": 0, "attempts": 3, "prompt_tokens": 30, "completion_tokens": 15, "cost_usd": 0.75,
        "spent_usd": 0.75,
    }  # fmt: skip
    encoded = encode_outcome(outcome(NOISE, "late"))
    encoded["answer"]["usage"]["cost_usd"] = None
    run.take(encoded, None)
    assert results(run)["usage"] == {
        "calls": 4, "replayed": 0, "attempts": 4, "prompt_tokens": 40, "completion_tokens": 20, "cost_usd": None,
        "spent_usd": None,
    }  # fmt: skip
    run.take({**encoded, "answer": {**encoded["answer"], "usage": None}}, None)
    assert results(run)["usage"]["prompt_tokens"] is None


def test_a_crashed_worker_leaves_a_valid_outcome() -> None:
    run = finished_run()
    crash = run.plan.crash_outcome(f"{NOISE}[late]", "worker 'gw0' crashed")
    assert crash is not None
    run.take(encode_outcome(crash), None)
    run.evaluate_gates()
    content = results(run)
    validate(content)
    assert content["outcomes"][2]["error_type"] == "worker_crashed"


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2}, {"extra": 1}, {"outcomes": [{}]}, {"gates": [{}]}, {"matrix": []}, {"usage": {}},
        {"instances": {"q1": {"passages": {"p0": {"role": "gold"}}}}},
    ],
)  # fmt: skip
def test_the_schema_rejects_invalid_values(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate({**results(Run(STARTED)), **change})


@pytest.mark.parametrize(
    "score",
    [
        {"value": None}, {"value": 1.0, "reason": "why"}, {"value": "1"}, {}, {"value": 1.0, "replies": ["{}"]},
        {"value": 1.0, "label": ["yes"]}, {"value": 1.0, "label": "yes", "judge": "j"},
    ],
)  # fmt: skip
def test_the_schema_rejects_a_malformed_score(score: dict[str, Any]) -> None:
    encoded = encode_outcome(outcome(NOISE, "q1"))
    content = results(Run(STARTED, Plan()))
    validate({**content, "outcomes": [{**encoded, "scores": {"accuracy": {"value": 1.0}}}]})
    with pytest.raises(jsonschema.ValidationError):
        validate({**content, "outcomes": [{**encoded, "scores": {"accuracy": score}}]})


@pytest.mark.parametrize("texts", [True, False])
def test_a_judged_outcome_is_valid_and_contains_judge_texts_only_with_texts(texts: bool) -> None:
    verdict = Verdict("yes", f"{MARK} as it says", (f"{MARK} hm", f"{MARK} yes"))
    unreadable = Verdict(None, "", (f"{MARK} hm",), f"parse_error: {MARK} hm is no label")
    judged_outcome = outcome(
        NOISE, "q1", accuracy=Score(1.0, None, verdict), token_f1=Score(None, unreadable.problem, unreadable)
    )
    run = Run(STARTED, plan(), texts=texts)
    run.take(encode_outcome(replace(judged_outcome, calls=Calls(2, 1, 1, 10, None, 0.5, None))), None)
    content = results(run)
    validate(content)
    (stored_outcome,) = content["outcomes"]
    assert stored_outcome["scores"]["accuracy"]["label"] == "yes"
    assert stored_outcome["calls"]["replayed"] == 1
    assert (MARK in json.dumps(content, ensure_ascii=False)) is texts
    assert ("replies" in stored_outcome["scores"]["token_f1"]) is texts


def test_an_instance_without_passages_is_valid() -> None:
    validate({**results(Run(STARTED)), "instances": {"q": encode_instance(Instance("q", "?"))}})


def test_an_answer_without_tokens_is_not_a_call() -> None:
    run = finished_run()
    before = results(run)["usage"]["calls"]
    encoded = encode_outcome(outcome(NOISE, "late", accuracy=Score(1.0)))
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0, "latency_s": 0.1}
    run.take({**encoded, "answer": {**encoded["answer"], "usage": usage}}, None)
    assert results(run)["usage"]["calls"] == before
