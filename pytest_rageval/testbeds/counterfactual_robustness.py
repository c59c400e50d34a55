"""Counterfactual robustness (RGB): detect a false statement in the passages, and correct it."""

from __future__ import annotations

from pytest_rageval.model.phrases import ERROR_SENTENCE, REJECTION_SENTENCE
from pytest_rageval.testbeds.ability import Ability

__all__ = ["COUNTERFACTUAL_ROBUSTNESS"]

COUNTERFACTUAL_ROBUSTNESS = Ability(
    name="counterfactual_robustness",
    metrics=("error_detection_rate", "error_correction_rate", "fake_answer_rate", "accuracy"),
    wording={
        "en": (
            "Answer the question from the documents, which may state falsehoods. "
            f"If they contradict what you know to be true, first say exactly: {ERROR_SENTENCE['en']} "
            "Then give the correct answer. "
            f"If they do not hold the answer, reply exactly: {REJECTION_SENTENCE['en']}"
        ),
        "zh": (
            "请根据文档回答问题。文档内容可能有错误。"
            f"如果文档与你确知的事实相矛盾，请先原样回复：{ERROR_SENTENCE['zh']}"
            "然后给出正确答案。"
            f"如果文档中没有答案，请原样回复：{REJECTION_SENTENCE['zh']}"
        ),
    },
    evidence="counterfactual",
)
