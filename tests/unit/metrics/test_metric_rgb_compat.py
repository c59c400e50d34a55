from __future__ import annotations

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.metrics.published.rgb_compat import (
    CORRECT_RATE_COMPAT,
    FACT_CHECK_RATE_COMPAT,
    REJECTION_RATE_RGB_COMPAT,
    RGB_ALL_RATE_COMPAT,
)
from pytest_rageval.model.phrases import Markers

GOLD = slots("70")
REJECTION = "insufficient information"
FLAG = "There are factual errors in the provided documents."
NOT_FLAGGED = "not_applicable: no_error_flagged"


@pytest.mark.parametrize(
    ("text", "noise_rate", "expected"),
    [
        ("There are 170 seats", "0", 1.0),
        ("There are 70 seats", "1", 1.0),
        ("There are 8 seats", "1", 0.0),
        (f"{REJECTION}, but 70", "0.8", 0.0),
        (f"{REJECTION}, but 8", "1", 1.0),
        (f"{REJECTION}, but 8", "1.0", 1.0),
        ("Insufficient information", "1", 0.0),
        ("", "1", 0.0),
    ],
)
def test_the_all_rate_equals_the_published_one(text: str, noise_rate: str, expected: float) -> None:
    assert value(RGB_ALL_RATE_COMPAT, sample(text, GOLD, noise_rate=noise_rate)) == expected


def test_an_answer_without_gold_is_correct_only_as_a_rejection() -> None:
    assert value(RGB_ALL_RATE_COMPAT, sample("70")) == 0.0
    assert value(RGB_ALL_RATE_COMPAT, sample(REJECTION, noise_rate="1")) == 1.0


def test_the_markers_of_the_session_and_a_declared_abstention_are_ignored() -> None:
    markers = Markers(rejection={"en": ("seats",)}, error={})
    assert value(RGB_ALL_RATE_COMPAT, sample("70 seats", GOLD, markers=markers, abstained=True)) == 1.0
    abstention = sample("I do not know.", GOLD, markers=markers, abstained=True)
    assert value(REJECTION_RATE_RGB_COMPAT, abstention) == 0.0
    assert value(REJECTION_RATE_RGB_COMPAT, sample(f"{REJECTION}, but 70", GOLD, abstained=False)) == 1.0


@pytest.mark.parametrize(
    ("text", "language", "rejected"),
    [
        (f"Given the {REJECTION}, no.", "en", 1.0),
        (f"{REJECTION}, but 70", "en", 1.0),
        ("Insufficient information", "en", 0.0),
        ("The documents do not say.", "en", 0.0),
        ("信息不足", "en", 1.0),
        ("信息 不足", "en", 0.0),
        ("信息 不足", "zh", 1.0),
        (REJECTION, "zh", 0.0),
        ("", "en", 0.0),
    ],
)
def test_the_rejection_rate_equals_the_published_one(text: str, language: str, rejected: float) -> None:
    assert value(REJECTION_RATE_RGB_COMPAT, sample(text, GOLD, language=language)) == rejected


@pytest.mark.parametrize(
    ("text", "language", "flagged", "corrected"),
    [
        (f"{FLAG} There are 70.", "en", 1.0, 1.0),
        (f"{FLAG} There are 170.", "en", 1.0, 1.0),
        (f"{FLAG} There are 8.", "en", 1.0, 0.0),
        (f"{FLAG} There is {REJECTION}.", "en", 1.0, 1.0),
        ("There are no factual errors. 8", "en", 1.0, 0.0),
        ("Factual errors exist. 70", "en", 0.0, NOT_FLAGGED),
        ("There are 70.", "en", 0.0, NOT_FLAGGED),
        ("", "en", 0.0, NOT_FLAGGED),
        ("提供文档的文档存在 事实性 错误。70", "zh", 1.0, 1.0),
        ("存在 事实性 错误。70", "en", 0.0, NOT_FLAGGED),
        ("factual errors 70", "zh", 0.0, NOT_FLAGGED),
    ],
)
def test_the_error_rates_equal_the_published_ones(
    text: str, language: str, flagged: float, corrected: float | str
) -> None:
    assert value(FACT_CHECK_RATE_COMPAT, sample(text, GOLD, language=language)) == flagged
    assert value(CORRECT_RATE_COMPAT, sample(text, GOLD, language=language)) == corrected


def test_without_gold_a_flagged_answer_counts_as_corrected() -> None:
    assert value(CORRECT_RATE_COMPAT, sample(FLAG)) == 1.0
