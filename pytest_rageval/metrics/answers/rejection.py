"""Negative rejection: whether a system declines when the evidence is missing, and only then."""

from __future__ import annotations

from pytest_rageval.metrics.answers.containment import NO_GOLD
from pytest_rageval.metrics.shared.detection import rejects
from pytest_rageval.metrics.shared.right_answer import is_right
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = [
    "CORRECT_WITHOUT_EVIDENCE",
    "OVER_REJECTION_RATE",
    "REJECTION_RATE",
    "correct_without_evidence",
    "over_rejection_rate",
    "rejection_rate",
]

_EVIDENCE_UNKNOWN = Score.not_applicable("evidence_unknown")


def rejection_rate(sample: Sample) -> Score:
    """Score whether the answer declines to answer.

    Formula: 1 when ``answer.abstained`` says so or, where that is None, when the answer is a plain refusal, in English
    or Chinese: it says that it cannot answer or that the documents do not say, and gives no answer beside that
    (`text.refusals.refuses` is the rule); else 0. Markers that the session sets for a language replace the rule there.
    Range: 0 or 1, higher is better (the metric is meant for cases without evidence). Empty input: an empty answer is no
    rejection.
    Source: RGB (Chen et al., AAAI 2024), rejection rate, without its correct answers mixed in. RGB's code looks for its
    own sentence only: that is `rejection_rate_rgb_compat`.
    """
    return Score(float(rejects(sample.answer, sample.markers)))


def over_rejection_rate(sample: Sample) -> Score:
    """Score whether the answer declines although the evidence was supplied.

    Formula: `rejection_rate` on the cases whose evidence is supplied; not applicable to the others.
    Range: 0 or 1, lower is better. Empty input: an empty answer is no rejection.
    Source: the complement RGB leaves out; without it a system that always rejects looks perfect.
    """
    evidence = sample.case.evidence
    if evidence is None:
        return _EVIDENCE_UNKNOWN
    return rejection_rate(sample) if evidence else Score.not_applicable("no_evidence")


def correct_without_evidence(sample: Sample) -> Score:
    """Score whether a right answer was given although no evidence was supplied.

    Formula: 1 when every gold slot is contained and the answer does not reject, else 0; on the cases that are known to
    lack evidence, not applicable to the others. Up means "answered from memory": lower is better for a grounded system.
    Range: 0 or 1, lower is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: what RGB's ``all_rate`` at noise rate 1 adds to its rejections, here on its own.
    """
    evidence, instance = sample.case.evidence, sample.case.instance
    if evidence is None:
        return _EVIDENCE_UNKNOWN
    if evidence:
        return Score.not_applicable("evidence_supplied")
    if not instance.gold:
        return NO_GOLD
    return Score(float(is_right(instance, sample.answer.text) and not rejects(sample.answer, sample.markers)))


REJECTION_RATE = Metric("rejection_rate", rejection_rate, binary=True)
OVER_REJECTION_RATE = Metric("over_rejection_rate", over_rejection_rate, higher_is_better=False, binary=True)
CORRECT_WITHOUT_EVIDENCE = Metric(
    "correct_without_evidence", correct_without_evidence, higher_is_better=False, binary=True
)
