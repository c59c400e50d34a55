"""Judged metrics end to end: verdicts, unscored cases, errors and results.json."""

from __future__ import annotations

from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, case
from support.projects.scripted_projects import (
    NOTED,
    SAYS_WHAT_IT_IS_TOLD,
    asked_of,
    conftest,
    contents,
    judged,
    values,
)

from pytest_rageval.llm.client.retry import RetryPolicy

RATE = "rejection_rate_judged"

TEST = f"""
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["{RATE}", "accuracy"], gates=["{RATE} >= 0.2", "accuracy >= 0"])
    def test_it(rag):
        ...
"""

ROWS = [
    case("declines", "say no idea"),
    case("answers", "say Paris"),
    case("unread", "say gibberish"),
    case("also", "say Paris"),
]


def test_a_verdict_is_stored_with_its_label_and_rationale(project: Project, mode: Mode) -> None:
    judged(project, ROWS, TEST)
    run = project.run(*mode)
    assert run.status == 0, run.text
    assert values(run, RATE) == {"declines": 1.0, "answers": 0.0, "unread": None, "also": 0.0}
    score = run.outcomes["declines"]["scores"][RATE]
    assert score == {
        "value": 1.0,
        "label": "rejected",
        "rationale": "it says it has no idea",
        "replies": ['{"reason": "it says it has no idea", "label": "rejected"}'],
    }
    gate = run.gates[f"{RATE} >= 0.2"]
    assert (gate["value"], gate["n"], gate["status"]) == (pytest.approx(1 / 3), 3, "passed")


def test_two_unreadable_replies_leave_a_case_unscored_and_cost_two_calls(project: Project) -> None:
    judged(project, ROWS, TEST)
    run = project.run("-v")
    outcome = run.outcomes["unread"]
    score = outcome["scores"][RATE]
    assert outcome["status"] == "scored"
    assert score["value"] is None
    assert score["reason"] == "parse_error: the reply holds no JSON object"
    assert score["replies"] == ["well, who knows", "well, who knows"]
    assert outcome["calls"]["calls"] == outcome["calls"]["attempts"] == 2
    assert outcome["calls"]["prompt_tokens"] == 100
    assert run.outcomes["answers"]["calls"]["calls"] == 1
    assert run.results["usage"]["calls"] == 5
    assert run.results["usage"]["cost_usd"] == pytest.approx(0.005)
    assert run.results["usage"]["spent_usd"] == pytest.approx(0.004)  # two equal cases share a verdict
    run.said(
        "model calls: 5 (1 replayed), 4 attempts*250 + 25 tokens*$0.0050 (spent now $0.0040)",
        f"unscored: 1 parse_error ({RATE})",
    )
    again = [request for request in asked_of(project, "judge") if len(request["messages"]) > 2]
    assert len(again) == 1
    assert again[0]["messages"][2] == {"role": "assistant", "content": "well, who knows"}
    assert "no JSON object" in again[0]["messages"][3]["content"]
    project.run("-v").said(f"*PASSED*{RATE} >= 0.2*n 3 *1 unscored (parse_error)")


def test_a_valid_second_reply_counts(project: Project) -> None:
    rules = """lambda messages: verdict("rejected") if len(messages) > 2 else '{"label": "perhaps"}'"""
    judged(project, ROWS[:1], TEST, rules=rules)
    run = project.run()
    assert values(run, RATE) == {"declines": 1.0}
    assert run.outcomes["declines"]["scores"][RATE]["replies"][0] == '{"label": "perhaps"}'
    assert run.outcomes["declines"]["calls"]["calls"] == 2


def test_the_judge_sees_question_and_answer_as_quotes_and_gets_a_schema(project: Project) -> None:
    judged(project, ROWS[:1], TEST)
    project.run()
    (request,) = asked_of(project, "judge")
    assert request["params"] == ["response_format"]
    assert "> say no idea" in request["messages"][1]["content"]
    assert "\n> no idea" in request["messages"][1]["content"]
    assert "Paris" not in request["messages"][1]["content"]  # the gold answer is not shown


def test_without_a_judge_the_metric_is_unscored_and_its_gate_fails(project: Project) -> None:
    judged(project, ROWS, TEST)
    conftest(project, NOTED, SAYS_WHAT_IT_IS_TOLD)
    run = project.run()
    assert run.status == 1
    assert set(values(run, RATE).values()) == {None}
    assert run.outcomes["answers"]["scores"][RATE] == {"value": None, "reason": "judge_unavailable"}
    gate = run.gates[f"{RATE} >= 0.2"]
    assert (gate["status"], gate["value"]) == ("failed", None)
    assert gate["reason"] == "nothing was scored: 4 cases, 0 errors (judge_unavailable)"
    assert run.gates["accuracy >= 0"]["status"] == "passed"
    run.said("*nothing was scored*(judge_unavailable)*")


def test_a_judge_that_fails_is_an_error_that_keeps_the_answer(project: Project) -> None:
    judged(project, ROWS[:1], TEST, rules='lambda messages: ModelError("content_filter", "not about this")')
    run = project.run("-v")
    assert run.status == 1
    outcome = run.outcomes["declines"]
    assert (outcome["status"], outcome["error_type"]) == ("error", "content_filter")
    assert outcome["answer"]["text"] == "no idea"
    assert "not about this" in outcome["error"]
    assert outcome["calls"]["calls"] == outcome["calls"]["attempts"] == 1
    assert run.gates["accuracy >= 0"]["n_errors"] == 1
    run.said("errors: 1 content_filter")


def test_a_judge_is_tried_again_before_it_fails(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RetryPolicy, "wait_s", lambda *_: 0.0)
    judged(project, ROWS[:1], TEST, rules='lambda messages: ModelError("server_error", "the judge is down")')
    outcome = project.run().outcomes["declines"]
    assert (outcome["status"], outcome["error_type"]) == ("error", "server_error")
    assert outcome["answer"]["text"] == "no idea"
    most = RetryPolicy().attempts
    assert outcome["error"].startswith(f"the judge is down (tried {most} times)")
    assert (outcome["calls"]["calls"], outcome["calls"]["attempts"]) == (1, most)
    assert len(asked_of(project, "judge")) == most


def test_a_judge_that_raises_names_itself_and_the_case(project: Project) -> None:
    judged(project, ROWS[:1], TEST, rules='lambda messages: ValueError("a bug of mine")')
    outcome = project.run().outcomes["declines"]
    assert (outcome["status"], outcome["error_type"]) == ("error", "judge_error")
    assert outcome["error"].startswith(f"judge '{RATE}' failed on case 'declines': ValueError: a bug of mine")


def _flat(plain: Any) -> list[object]:
    if isinstance(plain, dict):
        return [item for value in plain.values() for item in _flat(value)]
    return [item for value in plain for item in _flat(value)] if isinstance(plain, list) else [plain]


def test_without_texts_no_word_of_a_judge_is_stored(project: Project) -> None:
    judged(project, ROWS, TEST)
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false\n")
    run = project.run()
    assert run.outcomes["declines"]["scores"][RATE] == {"value": 1.0, "label": "rejected"}
    assert run.outcomes["unread"]["scores"][RATE] == {"value": None, "reason": "parse_error", "label": None}
    for report in (run.results, project.lines()):
        words = [word for word in _flat(report) if isinstance(word, str)]
        assert not [word for word in words if "no idea" in word or "who knows" in word]


COUNTERFACTUAL = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", ability="counterfactual_robustness", passages=1,
              metrics=["error_detection_rate_judged", "error_correction_rate_judged", "error_correction_rate"])
    def test_it(rag):
        ...
"""


def test_two_metrics_of_one_judge_ask_it_once(project: Project) -> None:
    lie = [{"id": "d1", "text": "The capital is Rome.", "role": "counterfactual"}]
    true = [{"id": "d2", "text": "The capital is Paris.", "role": "positive"}]
    more: dict[str, Any] = {"passages": lie + true, "fake_answers": ["Rome"]}
    rows = [
        case("corrected", "say Not so, it is Paris.", **more),
        case("only detected", "say Not so.", **more),
        case("believed", "say Rome", **more),
    ]
    rules = '{"> Not so": verdict("detected"), "": verdict("not_detected")}'
    judged(project, rows, COUNTERFACTUAL, rules=rules)
    run = project.run()
    assert len(asked_of(project, "judge")) == 3
    assert values(run, "error_detection_rate_judged") == {"corrected": 1.0, "only detected": 1.0, "believed": 0.0}
    assert values(run, "error_correction_rate_judged") == {"corrected": 1.0, "only detected": 0.0, "believed": None}
    reason = run.outcomes["believed"]["scores"]["error_correction_rate_judged"]["reason"]
    assert reason == "not_applicable: no_error_detected"
    exact = run.outcomes["corrected"]["scores"]["error_correction_rate"]
    assert exact == {"value": None, "reason": "not_applicable: no_error_flagged"}  # it needs RGB's sentence


def test_recorded_answers_are_judged(project: Project) -> None:
    judged(project, ROWS[:2], TEST)
    project.data([{"id": "declines", "answer": "no idea"}, {"id": "answers", "answer": "Paris"}], "answers.jsonl")
    run = project.run("--rag-answers", "answers.jsonl")
    assert run.status == 0, run.text
    assert values(run, RATE) == {"declines": 1.0, "answers": 0.0}
    assert {outcome["system"] for outcome in run.results["outcomes"]} == {"recorded"}
    assert len(asked_of(project, "judge")) == 2


def test_verdicts_do_not_depend_on_concurrency(project: Project) -> None:
    judged(project, ROWS, TEST)
    ahead, in_turn = project.run(), project.run("--rag-concurrency", "1")
    assert [o["scores"] for o in ahead.results["outcomes"]] == [o["scores"] for o in in_turn.results["outcomes"]]
    assert len(contents(asked_of(project, "judge"), "system")) == 2 * 4  # two of the cases are the same
