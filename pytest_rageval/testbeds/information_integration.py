"""Information integration (RGB): combine the answer from several passages."""

from __future__ import annotations

from pytest_rageval.model.phrases import REJECTION_SENTENCE
from pytest_rageval.testbeds.ability import Ability

__all__ = ["INFORMATION_INTEGRATION"]

INFORMATION_INTEGRATION = Ability(
    name="information_integration",
    metrics=("accuracy", "slot_recall", "over_rejection_rate"),
    wording={
        "en": (
            "Answer the question from the documents. It has several parts, answered by different documents. "
            f"If they do not hold the answer, reply exactly: {REJECTION_SENTENCE['en']}"
        ),
        "zh": (
            "请根据文档回答问题。问题包含多个部分，答案分布在不同的文档中，请全部回答。"
            f"如果文档中没有答案，请原样回复：{REJECTION_SENTENCE['zh']}"
        ),
    },
    evidence="positive",
)
