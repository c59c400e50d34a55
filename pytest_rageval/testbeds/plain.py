"""Testbeds without an ability: supply the record's passages in their order, if it has any."""

from __future__ import annotations

from pytest_rageval.model.phrases import REJECTION_SENTENCE
from pytest_rageval.testbeds.ability import Ability

__all__ = ["PLAIN"]

PLAIN = Ability(
    name="plain",
    metrics=("token_f1", "exact_match", "accuracy", "has_answer"),
    wording={
        "en": (
            "Answer the question as briefly as you can, from the documents where there are any. "
            f"If they do not hold the answer, reply exactly: {REJECTION_SENTENCE['en']}"
        ),
        "zh": (
            f"请尽量简短地回答问题；如有文档，请以文档为准。如果文档中没有答案，请原样回复：{REJECTION_SENTENCE['zh']}"
        ),
    },
)
