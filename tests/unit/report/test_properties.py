"""JUnit properties: stable names, no empty values, valid XML."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.samples.run_samples import FINISHED, NOISE, PLAIN, finished_run, outcome

from pytest_rageval.analysis.account.finding import Account, Finding
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.report.export.junit_properties import case_properties, gate_properties, run_properties
from pytest_rageval.report.files.gate_json import encode_gate
from pytest_rageval.report.files.results_json import encode_run


def properties_of(each: Outcome, *unvalidated: str, texts: bool = True) -> dict[str, str]:
    return dict(case_properties(each, unvalidated, texts=texts))


def test_a_case_has_its_facets_scores_and_usage() -> None:
    assert properties_of(outcome(NOISE, "q1", accuracy=Score(1 / 3))) == {
        "rag.case": "q1",
        "rag.status": "scored",
        "rag.facet.topic": "A",
        "rag.facet.task": "qa",
        "rag.facet.noise_rate": "0.4",
        "rag.score.accuracy": "0.3333333333333333",
        "rag.usage.prompt_tokens": "10",
        "rag.usage.completion_tokens": "5",
        "rag.usage.cost_usd": "0.25",
        "rag.usage.latency_s": "0.5",
    }


def test_unknown_values_have_no_property() -> None:
    scored = outcome(PLAIN, "q3", token_f1=Score(0.0))
    assert scored.answer is not None
    unknown = properties_of(replace(scored, answer=replace(scored.answer, usage=Usage(prompt_tokens=0))))
    assert {name for name in unknown if name.startswith("rag.usage.")} == {"rag.usage.prompt_tokens"}
    assert (unknown["rag.usage.prompt_tokens"], unknown["rag.score.token_f1"]) == ("0", "0.0")  # zero is a value
    crash = properties_of(
        replace(scored, status="error", answer=None, scores={}, error="worker gone", error_type="worker_crashed")
    )
    assert (crash["rag.status"], crash["rag.error_type"]) == ("error", "worker_crashed")
    assert not [name for name in crash if name.startswith(("rag.usage.", "rag.score."))]


def test_an_unscored_metric_has_a_reason_instead_of_a_score() -> None:
    unscored = outcome(PLAIN, "q3", polite=Score(reason="parse_error: it said <b>hm</b>"))
    assert properties_of(unscored)["rag.unscored.polite"] == "parse_error: it said <b>hm</b>"
    assert properties_of(unscored, texts=False)["rag.unscored.polite"] == "parse_error"
    assert "rag.score.polite" not in properties_of(unscored)


def test_a_score_of_a_judge_without_a_trust_check_is_left_out() -> None:
    scores: dict[str, Any] = {
        "polite": Score(1.0, verdict=Verdict("yes")),
        "exact": Score(1.0, verdict=Verdict("yes", by="rule")),
    }
    properties = properties_of(outcome(PLAIN, "q3", **scores), "polite", "exact")
    assert properties["rag.unscored.polite"] == "judge_not_weighed_yet"
    assert "rag.score.polite" not in properties
    assert properties["rag.score.exact"] == "1.0"


def test_characters_invalid_in_xml_are_escaped() -> None:
    hostile = replace(
        outcome(PLAIN, "q3"), facets={"to\x00pic\ud800": "a\x1b[31m\ufffe\u202e]]>&", "title": "基金 <b>"}
    )
    properties = properties_of(hostile)
    assert properties["rag.facet.to\\x00pic\\ud800"] == "a\\x1b[31m\\ufffe\\u202e]]>&"
    assert properties["rag.facet.title"] == "基金 <b>"


def test_a_gate_has_its_value_bound_and_number_of_cases() -> None:
    run = finished_run()
    run.evaluate_gates()
    values = {"value": 0.5, "n": 1, "n_errors": 0, "ci95": [0.25, 0.75], "slice": {"topic": "A"}, "p_value": 0.25}
    gate = {**encode_gate(run.gates[-1], texts=True), **values, "verdict": "inconclusive"}
    assert dict(gate_properties(gate, ">= 0.1")) == {
        "rag.gate.scope": "session",
        "rag.gate.bound": ">= 0.1",
        "rag.gate.value": "0.5",
        "rag.gate.n": "1",
        "rag.gate.n_errors": "0",
        "rag.gate.p_value": "0.25",
        "rag.gate.verdict": "inconclusive",
        "rag.gate.ci95_low": "0.25",
        "rag.gate.ci95_high": "0.75",
        "rag.gate.slice.topic": "A",
    }
    failed = encode_gate(run.gates[0], texts=True)
    assert failed["value"] is None
    assert "rag.gate.value" not in dict(gate_properties(failed, ">= 0.9"))


def test_the_session_has_its_properties() -> None:
    causes = (
        Finding("drop", "both", "both: accuracy 1.00 -> 0.00"),
        Finding("noise", "", "not significant: 1 case broke"),
    )
    account = Account("1 of 1 gate failed - 1 cause", "failed", causes)
    properties = dict(run_properties(encode_run(finished_run(), "r1", FINISHED), ["mine", "theirs"], account))
    assert properties["rag.verdict"] == "1 of 1 gate failed - 1 cause"
    assert properties["rag.cause.1"] == "both: accuracy 1.00 -> 0.00"
    assert "rag.cause.2" not in properties
    assert properties["rag.run"] == "r1"
    assert properties["rag.systems"] == "mine, theirs"
    assert properties["rag.fingerprint"] == "sha256:0"
    assert properties["rag.version.python"]
