"""Negative rejection: the system declines to answer if, and only if, evidence is missing."""

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

    Formula: 1 if ``answer.abstained`` is true or, if that is None, if the answer is a plain refusal in English or
    Chinese, else 0. A plain refusal says that it cannot answer or that the documents lack the answer, and gives no
    answer (see `text.refusals.refuses`). Markers that the session sets for a language replace this rule for that
    language.
    Range: 0 or 1, higher is better (the metric is meant for cases without evidence). Empty input: an empty answer is
    not a rejection.
    Source: RGB (Chen et al., AAAI 2024), rejection rate, without counting correct answers. RGB's code looks only
    for the sentence that its prompt asks for: see `rejection_rate_rgb_compat`.
    """
    return Score(float(rejects(sample.answer, sample.markers)))


def over_rejection_rate(sample: Sample) -> Score:
    """Score whether the answer declines although the evidence was supplied.

    Formula: `rejection_rate` on the cases with supplied evidence; not applicable to the others.
    Range: 0 or 1, lower is better. Empty input: an empty answer is not a rejection.
    Source: ours, as the counterpart of RGB's rejection rate, for which a system that always rejects looks perfect.
    """
    evidence = sample.case.evidence
    if evidence is None:
        return _EVIDENCE_UNKNOWN
    return rejection_rate(sample) if evidence else Score.not_applicable("no_evidence")


def correct_without_evidence(sample: Sample) -> Score:
    """Score whether the answer is right although no evidence was supplied.

    Formula: 1 if the answer contains every gold slot and does not reject, else 0; only for cases known to lack
    evidence, not applicable to the others. A high value means "answered from memory", which is worse for a grounded
    system.
    Range: 0 or 1, lower is better. Empty input: an empty answer scores 0; no gold is not applicable.
    Source: the right answers that RGB's ``all_rate`` at noise rate 1 adds to its rejections, here as a metric.
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
