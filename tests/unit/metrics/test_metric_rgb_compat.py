from __future__ import annotations

import pytest
from metric_samples import sample, slots, value

from pytest_rageval.metrics.rgb_compat import RGB_ALL_RATE_COMPAT
from pytest_rageval.model.phrases import Markers

GOLD = slots("70")
REJECTION = "insufficient information"


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
def test_the_published_rate(text: str, noise_rate: str, expected: float) -> None:
    assert value(RGB_ALL_RATE_COMPAT, sample(text, GOLD, noise_rate=noise_rate)) == expected


def test_without_gold_nothing_is_correct() -> None:
    assert value(RGB_ALL_RATE_COMPAT, sample("70")) == 0.0
    assert value(RGB_ALL_RATE_COMPAT, sample(REJECTION, noise_rate="1")) == 1.0


def test_neither_the_sessions_markers_nor_a_declared_abstention_matter() -> None:
    ours = Markers(rejection={"en": ("seats",)}, error={})
    assert value(RGB_ALL_RATE_COMPAT, sample("70 seats", GOLD, markers=ours, abstained=True)) == 1.0
