from __future__ import annotations

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.answers.rejection import CORRECT_WITHOUT_EVIDENCE, OVER_REJECTION_RATE, REJECTION_RATE

REJECTION = "I can not answer the question because of the insufficient information in documents."
GOLD = slots("Rome")


@pytest.mark.parametrize("evidence", [True, False, None])
def test_rejection_rate_is_scored_for_every_case(evidence: bool | None) -> None:
    assert value(REJECTION_RATE, sample(REJECTION, GOLD, evidence=evidence)) == 1.0
    assert value(REJECTION_RATE, sample("Rome", GOLD, evidence=evidence)) == 0.0
    assert value(REJECTION_RATE, sample("", evidence=evidence)) == 0.0


def test_a_refusal_in_other_words_is_a_rejection() -> None:
    assert value(REJECTION_RATE, sample("The documents do not mention this.", GOLD)) == 1.0
    assert value(REJECTION_RATE, sample("The documents do not mention this, but it was Rome.", GOLD)) == 0.0
    assert value(REJECTION_RATE, sample("文中没有提到。", GOLD, language="zh")) == 1.0
    assert value(OVER_REJECTION_RATE, sample("The documents do not mention this.", GOLD, evidence=True)) == 1.0


def test_over_rejection_applies_only_to_cases_with_evidence() -> None:
    assert value(OVER_REJECTION_RATE, sample(REJECTION, GOLD, evidence=True)) == 1.0
    assert value(OVER_REJECTION_RATE, sample("Lima", GOLD, evidence=True)) == 0.0
    assert value(OVER_REJECTION_RATE, sample("", GOLD, evidence=True, abstained=True)) == 1.0
    assert value(OVER_REJECTION_RATE, sample(REJECTION, GOLD, evidence=False)) == "not_applicable: no_evidence"
    assert value(OVER_REJECTION_RATE, sample(REJECTION, GOLD)) == "not_applicable: evidence_unknown"
    assert OVER_REJECTION_RATE.higher_is_better is False


@pytest.mark.parametrize(
    ("text", "evidence", "expected"),
    [
        ("It was Rome.", False, 1.0),
        ("It was Lima.", False, 0.0),
        (f"{REJECTION} But it was Rome.", False, 1.0),
        ("The documents do not name a city such as Rome.", False, 0.0),
        ("", False, 0.0),
        ("It was Rome.", True, "not_applicable: evidence_supplied"),
        ("It was Rome.", None, "not_applicable: evidence_unknown"),
    ],
)
def test_a_correct_answer_without_evidence_counts(text: str, evidence: bool | None, expected: float | str) -> None:
    assert value(CORRECT_WITHOUT_EVIDENCE, sample(text, GOLD, evidence=evidence)) == expected


def test_correct_without_evidence_needs_gold() -> None:
    assert value(CORRECT_WITHOUT_EVIDENCE, sample("Rome", evidence=False)) == "not_applicable: no_gold"
    assert CORRECT_WITHOUT_EVIDENCE.higher_is_better is False
