"""Noise robustness (RGB): find the answer among passages when a share of them is irrelevant."""

from __future__ import annotations

from pytest_rageval.model.phrases import REJECTION_SENTENCE
from pytest_rageval.testbeds.ability import Ability

__all__ = ["NOISE_ROBUSTNESS"]

NOISE_ROBUSTNESS = Ability(
    name="noise_robustness",
    metrics=("accuracy", "slot_recall", "over_rejection_rate"),
    wording={
        "en": (
            "Answer the question from the documents. Some may have nothing to do with it: leave those aside. "
            f"If they do not hold the answer, reply exactly: {REJECTION_SENTENCE['en']}"
        ),
        "zh": (
            "请根据文档回答问题。有些文档可能与问题无关，请忽略它们。"
            f"如果文档中没有答案，请原样回复：{REJECTION_SENTENCE['zh']}"
        ),
    },
    evidence="positive",
)
