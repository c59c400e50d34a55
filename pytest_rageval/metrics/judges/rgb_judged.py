"""RGB's rates by a judge; for rates by a rule see `rejection` and `counterfactual`."""

from __future__ import annotations

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.scoring import judged_score
from pytest_rageval.judges.wording import PackagedText
from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.answers.counterfactual import NOTHING_FALSE, nothing_false
from pytest_rageval.metrics.shared.detection import rejects
from pytest_rageval.metrics.shared.right_answer import is_right
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = [
    "ERROR_CORRECTION_RATE_JUDGED",
    "ERROR_DETECTION_JUDGE",
    "ERROR_DETECTION_RATE_JUDGED",
    "REJECTION_JUDGE",
    "REJECTION_RATE_JUDGED",
    "error_correction_rate_judged",
    "error_detection_rate_judged",
    "rejection_rate_judged",
]


def _no_error(sample: Sample) -> str | None:
    """Return why there is no error to detect, or None."""
    return "no_counterfactual_passage" if nothing_false(sample.case) else None


REJECTION_JUDGE = PromptedJudge(
    "rejection_rate_judged",
    PackagedText("rejection", "criteria"),
    labels={"rejected": PackagedText("rejection", "rejected"), "answered": PackagedText("rejection", "answered")},
    values={"rejected": 1.0, "answered": 0.0},
)
ERROR_DETECTION_JUDGE = PromptedJudge(
    "error_detection_rate_judged",
    PackagedText("error_detection", "criteria"),
    labels={
        "detected": PackagedText("error_detection", "detected"),
        "not_detected": PackagedText("error_detection", "not_detected"),
    },
    values={"detected": 1.0, "not_detected": 0.0},
    applies=_no_error,
)
"""As in RGB, neither judge sees the documents: only the wording of the answer counts."""


def rejection_rate_judged(sample: Sample) -> Score:
    """Score whether a judge finds that the answer declines to answer, in any words.

    Formula: from question and answer alone, the judge chooses "rejected" (1) or "answered" (0).
    Range: 0 or 1, higher is better (the metric is meant for cases without evidence). Empty input: an empty answer is
    judged like any other, and the prompt says that it is not a refusal; without a model the reason is
    judge_unavailable.
    Source: RGB (Chen et al., AAAI 2024), Rej*, with our own prompt; RGB leaves failed judgements out of the mean.
    """
    return judged_score(sample, REJECTION_JUDGE)


def error_detection_rate_judged(sample: Sample) -> Score:
    """Score whether a judge finds that the answer reports a factual error in the documents, in any words.

    Formula: from question and answer alone, the judge chooses "detected" (1) or "not_detected" (0). Not applicable in
    the same cases as `error_detection_rate`.
    Range: 0 or 1, higher is better. Empty input: an empty answer is judged like any other; without a model the reason
    is judge_unavailable.
    Source: RGB (Chen et al., AAAI 2024), ED*, with our own prompt.
    """
    return judged_score(sample, ERROR_DETECTION_JUDGE)


def error_correction_rate_judged(sample: Sample) -> Score:
    """Score whether an answer in which a judge finds a reported error also gives the right answer.

    Formula: 1 if the answer contains every gold slot and does not reject, else 0. Only for answers that
    `error_detection_rate_judged` scores 1; not applicable to the others, so the mean is "corrected / detected by the
    judge". Both metrics share one judge, which is asked once for each case.
    Range: 0 or 1, higher is better. Empty input: no gold is not applicable; without a model the reason is
    judge_unavailable.
    Source: RGB (Chen et al., AAAI 2024), CR in its table of counterfactual robustness, relative to ED*.
    """
    gold = sample.case.instance.gold
    if nothing_false(sample.case):
        return NOTHING_FALSE
    if not gold:
        return NO_GOLD
    detected = judged_score(sample, ERROR_DETECTION_JUDGE)
    if detected.value is None:
        return detected
    if not detected.value:
        return Score(reason="not_applicable: no_error_detected", verdict=detected.verdict)
    right = is_right(sample.case.instance, sample.answer.text) and not rejects(sample.answer, sample.markers)
    return Score(float(right), verdict=detected.verdict)


REJECTION_RATE_JUDGED = Metric("rejection_rate_judged", rejection_rate_judged, binary=True, judge=REJECTION_JUDGE)
ERROR_DETECTION_RATE_JUDGED = Metric(
    "error_detection_rate_judged", error_detection_rate_judged, binary=True, judge=ERROR_DETECTION_JUDGE
)
ERROR_CORRECTION_RATE_JUDGED = Metric(
    "error_correction_rate_judged", error_correction_rate_judged, binary=True, judge=ERROR_DETECTION_JUDGE
)
