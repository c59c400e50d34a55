from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.metrics.answers.counterfactual import ERROR_CORRECTION_RATE, ERROR_DETECTION_RATE
from pytest_rageval.metrics.judges.rgb_judged import (
    ERROR_CORRECTION_RATE_JUDGED,
    ERROR_DETECTION_JUDGE,
    ERROR_DETECTION_RATE_JUDGED,
    REJECTION_JUDGE,
    REJECTION_RATE_JUDGED,
)
from pytest_rageval.model.case import Passage
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.testing import ScriptedLLM

GOLD = slots("Rome")
ALL = (REJECTION_RATE_JUDGED, ERROR_DETECTION_RATE_JUDGED, ERROR_CORRECTION_RATE_JUDGED)


def judged(metric: Metric, of: Sample, verdict: Verdict | str) -> float | str | None:
    assert metric.judge is not None
    judge_verdict = Verdict(verdict) if isinstance(verdict, str) else verdict
    return value(metric, replace(of, verdicts={metric.judge.name: judge_verdict}))


def test_a_rejection_in_the_judge_s_eyes() -> None:
    of = sample("Nothing in here speaks of that.", GOLD)
    assert judged(REJECTION_RATE_JUDGED, of, "rejected") == 1.0
    assert judged(REJECTION_RATE_JUDGED, of, "answered") == 0.0


@pytest.mark.parametrize(
    ("text", "verdict", "detected", "corrected"),
    [
        ("The passage is mistaken: it was Rome.", "detected", 1.0, 1.0),
        ("The passage is mistaken: it was Lima.", "detected", 1.0, 0.0),
        (
            "There is an error in the passage. It does not say whether it was Rome.",
            "detected",
            1.0,
            0.0,
        ),
        ("It was Rome.", "not_detected", 0.0, "not_applicable: no_error_detected"),
    ],
)
def test_an_error_detected_and_corrected(text: str, verdict: str, detected: float, corrected: float | str) -> None:
    of = sample(text, GOLD, fake=slots("Lima"))
    assert judged(ERROR_DETECTION_RATE_JUDGED, of, verdict) == detected
    assert judged(ERROR_CORRECTION_RATE_JUDGED, of, verdict) == corrected


def test_the_correction_rate_is_given_for_both_denominators() -> None:
    paraphrased = sample("That passage is plainly mistaken: it was Rome.", GOLD)
    reply = sample("There are factual errors in the provided documents. It was Rome.", GOLD)
    assert value(ERROR_CORRECTION_RATE, paraphrased) == "not_applicable: no_error_flagged"
    assert judged(ERROR_CORRECTION_RATE_JUDGED, paraphrased, "detected") == 1.0
    assert value(ERROR_CORRECTION_RATE, reply) == 1.0
    assert judged(ERROR_CORRECTION_RATE_JUDGED, reply, "not_detected") == "not_applicable: no_error_detected"


def test_both_rates_of_errors_share_one_judge() -> None:
    assert ERROR_CORRECTION_RATE_JUDGED.judge is ERROR_DETECTION_RATE_JUDGED.judge is ERROR_DETECTION_JUDGE
    assert REJECTION_RATE_JUDGED.judge is REJECTION_JUDGE
    assert [metric.binary and metric.higher_is_better for metric in ALL] == [True, True, True]


def test_they_apply_to_the_cases_of_the_exact_metrics() -> None:
    nothing_false = sample("It was Rome.", GOLD, evidence=True)
    for metric in (ERROR_DETECTION_RATE_JUDGED, ERROR_CORRECTION_RATE_JUDGED):
        assert value(metric, nothing_false) == value(ERROR_DETECTION_RATE, nothing_false)
        assert judged(metric, nothing_false, "detected") == "not_applicable: no_counterfactual_passage"
    assert judged(ERROR_CORRECTION_RATE_JUDGED, sample("It was Rome."), "detected") == "not_applicable: no_gold"
    assert judged(REJECTION_RATE_JUDGED, nothing_false, "rejected") == 1.0


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_no_verdict_is_a_reason_and_never_a_zero(metric: Metric) -> None:
    of = sample("It was Rome.", GOLD)
    assert value(metric, of) == "judge_unavailable"
    unread = Verdict(replies=("", ""), problem="parse_error: the reply is empty")
    assert judged(metric, of, unread) == "parse_error: the reply is empty"


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_a_score_holds_the_reply_of_the_judge(metric: Metric) -> None:
    assert metric.judge is not None
    for label in metric.judge.values or {}:  # type: ignore[attr-defined]
        verdict = Verdict(label, "because", ("raw",))
        of = replace(sample("It was Rome.", GOLD), verdicts={metric.judge.name: verdict})
        assert metric.compute(of).verdict == verdict


def questions_of(judge: PromptedJudge, of: Sample, label: str) -> tuple[Verdict, Mapping[str, str], Mapping[str, str]]:
    model = ScriptedLLM(json.dumps({"reason": "so", "label": label}))
    verdict = asyncio.run(judge.ask(of, model))
    system, user = model.requests[0].messages
    return verdict, system, user


@pytest.mark.parametrize("judge", [REJECTION_JUDGE, ERROR_DETECTION_JUDGE], ids=lambda judge: judge.name)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_judges_see_question_and_answer_alone(judge: PromptedJudge, language: str) -> None:
    of = sample("It was Rome.", slots("GOLDEN"), fake=slots("FALSE"), language=language)
    passages = (Passage("w0", "A DOCUMENT", role="counterfactual"),)
    of = replace(of, case=replace(of.case, supplied=passages))
    label = next(iter(judge.values or {}))
    verdict, system, user = questions_of(judge, of, label)
    assert verdict.label == label
    assert "> A question?" in user["content"]
    assert "> It was Rome." in user["content"]
    for hidden in ("GOLDEN", "FALSE", "DOCUMENT"):
        assert hidden not in system["content"] + user["content"]
    assert ("JSON 对象" in system["content"]) is (language == "zh")
    assert all(f'"{name}"' in system["content"] for name in judge.labels or {})
    assert "{" not in system["content"]


def test_the_error_judge_is_not_asked_without_false_passages() -> None:
    model = ScriptedLLM([])
    verdict = asyncio.run(ERROR_DETECTION_JUDGE.ask(sample("Rome", GOLD, evidence=True), model))
    assert verdict == Verdict(problem="not_applicable: no_counterfactual_passage")
    assert model.requests == ()
