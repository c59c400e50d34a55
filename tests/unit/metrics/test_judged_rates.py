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
METRICS = (REJECTION_RATE_JUDGED, ERROR_DETECTION_RATE_JUDGED, ERROR_CORRECTION_RATE_JUDGED)


def value_with_verdict(metric: Metric, answer_sample: Sample, verdict: Verdict | str) -> float | str | None:
    assert metric.judge is not None
    judge_verdict = Verdict(verdict) if isinstance(verdict, str) else verdict
    return value(metric, replace(answer_sample, verdicts={metric.judge.name: judge_verdict}))


def test_the_rejection_rate_follows_the_verdict() -> None:
    answer_sample = sample("Nothing in here speaks of that.", GOLD)
    assert value_with_verdict(REJECTION_RATE_JUDGED, answer_sample, "rejected") == 1.0
    assert value_with_verdict(REJECTION_RATE_JUDGED, answer_sample, "answered") == 0.0


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
def test_the_error_rates_follow_the_verdict(text: str, verdict: str, detected: float, corrected: float | str) -> None:
    answer_sample = sample(text, GOLD, fake=slots("Lima"))
    assert value_with_verdict(ERROR_DETECTION_RATE_JUDGED, answer_sample, verdict) == detected
    assert value_with_verdict(ERROR_CORRECTION_RATE_JUDGED, answer_sample, verdict) == corrected


def test_the_judged_correction_rate_has_another_denominator_than_the_exact_rate() -> None:
    paraphrased = sample("That passage is plainly mistaken: it was Rome.", GOLD)
    reply = sample("There are factual errors in the provided documents. It was Rome.", GOLD)
    assert value(ERROR_CORRECTION_RATE, paraphrased) == "not_applicable: no_error_flagged"
    assert value_with_verdict(ERROR_CORRECTION_RATE_JUDGED, paraphrased, "detected") == 1.0
    assert value(ERROR_CORRECTION_RATE, reply) == 1.0
    assert (
        value_with_verdict(ERROR_CORRECTION_RATE_JUDGED, reply, "not_detected") == "not_applicable: no_error_detected"
    )


def test_both_error_rates_share_one_judge() -> None:
    assert ERROR_CORRECTION_RATE_JUDGED.judge is ERROR_DETECTION_RATE_JUDGED.judge is ERROR_DETECTION_JUDGE
    assert REJECTION_RATE_JUDGED.judge is REJECTION_JUDGE
    assert [metric.binary and metric.higher_is_better for metric in METRICS] == [True, True, True]


def test_judged_rates_apply_to_the_cases_of_the_exact_metrics() -> None:
    without_false_passage = sample("It was Rome.", GOLD, evidence=True)
    for metric in (ERROR_DETECTION_RATE_JUDGED, ERROR_CORRECTION_RATE_JUDGED):
        assert value(metric, without_false_passage) == value(ERROR_DETECTION_RATE, without_false_passage)
        assert (
            value_with_verdict(metric, without_false_passage, "detected") == "not_applicable: no_counterfactual_passage"
        )
    assert (
        value_with_verdict(ERROR_CORRECTION_RATE_JUDGED, sample("It was Rome."), "detected")
        == "not_applicable: no_gold"
    )
    assert value_with_verdict(REJECTION_RATE_JUDGED, without_false_passage, "rejected") == 1.0


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_without_a_verdict_is_unscored_with_a_reason(metric: Metric) -> None:
    answer_sample = sample("It was Rome.", GOLD)
    assert value(metric, answer_sample) == "judge_unavailable"
    unreadable = Verdict(replies=("", ""), problem="parse_error: the reply is empty")
    assert value_with_verdict(metric, answer_sample, unreadable) == "parse_error: the reply is empty"


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_score_contains_the_verdict_of_the_judge(metric: Metric) -> None:
    assert metric.judge is not None
    for label in metric.judge.values or {}:  # type: ignore[attr-defined]
        verdict = Verdict(label, "because", ("raw",))
        answer_sample = replace(sample("It was Rome.", GOLD), verdicts={metric.judge.name: verdict})
        assert metric.compute(answer_sample).verdict == verdict


def ask_judge(
    judge: PromptedJudge, answer_sample: Sample, label: str
) -> tuple[Verdict, Mapping[str, str], Mapping[str, str]]:
    model = ScriptedLLM(json.dumps({"reason": "so", "label": label}))
    verdict = asyncio.run(judge.ask(answer_sample, model))
    system, user = model.requests[0].messages
    return verdict, system, user


@pytest.mark.parametrize("judge", [REJECTION_JUDGE, ERROR_DETECTION_JUDGE], ids=lambda judge: judge.name)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_prompt_of_a_judge_has_only_the_question_and_the_answer(judge: PromptedJudge, language: str) -> None:
    answer_sample = sample("It was Rome.", slots("GOLDEN"), fake=slots("FALSE"), language=language)
    passages = (Passage("w0", "A DOCUMENT", role="counterfactual"),)
    answer_sample = replace(answer_sample, case=replace(answer_sample.case, supplied=passages))
    label = next(iter(judge.values or {}))
    verdict, system, user = ask_judge(judge, answer_sample, label)
    assert verdict.label == label
    assert "> A question?" in user["content"]
    assert "> It was Rome." in user["content"]
    for hidden in ("GOLDEN", "FALSE", "DOCUMENT"):
        assert hidden not in system["content"] + user["content"]
    assert ("JSON 对象" in system["content"]) is (language == "zh")
    assert all(f'"{name}"' in system["content"] for name in judge.labels or {})
    assert "{" not in system["content"]


def test_the_error_judge_makes_no_request_without_false_passages() -> None:
    model = ScriptedLLM([])
    verdict = asyncio.run(ERROR_DETECTION_JUDGE.ask(sample("Rome", GOLD, evidence=True), model))
    assert verdict == Verdict(problem="not_applicable: no_counterfactual_passage")
    assert model.requests == ()
