"""Negative rejection (RGB): decline to answer when no passage holds the answer."""

from __future__ import annotations

from pytest_rageval.model.phrases import REJECTION_SENTENCE
from pytest_rageval.testbeds.ability import Ability

__all__ = ["NEGATIVE_REJECTION"]

NEGATIVE_REJECTION = Ability(
    name="negative_rejection",
    metrics=("rejection_rate", "rejection_rate_rgb_compat", "correct_without_evidence"),
    wording={
        "en": (
            "Answer the question from the documents, and from nothing else. "
            f"If they do not hold the answer, reply exactly: {REJECTION_SENTENCE['en']}"
        ),
        "zh": (
            f"请只根据文档回答问题，不要使用文档以外的知识。如果文档中没有答案，请原样回复：{REJECTION_SENTENCE['zh']}"
        ),
    },
    evidence="",
)
