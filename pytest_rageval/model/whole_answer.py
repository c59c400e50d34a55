"""Encode and decode an answer with everything that is needed to score it later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.codec import decode_answer, encode_answer
from pytest_rageval.model.plain import Plain
from pytest_rageval.model.ranking import Ranking

__all__ = ["decode_whole_answer", "encode_whole_answer"]


def encode_whole_answer(answer: Answer) -> Plain:
    """Return an answer in the form of results.json, plus what only scoring needs: spans and ``generated``."""
    plain = encode_answer(answer)
    spans = [] if answer.ranking is None else [item.span and list(item.span) for item in answer.ranking]
    if any(spans):
        plain["spans"] = spans
    return plain if answer.generated else plain | {"generated": False}


def decode_whole_answer(plain: Mapping[str, Any]) -> Answer:
    """Return the answer that `encode_whole_answer` encoded."""
    answer, spans = decode_answer(plain), plain.get("spans")
    if answer.ranking is not None and spans:
        pairs = zip(answer.ranking, spans, strict=True)
        items = tuple(replace(item, span=span and (span[0], span[1])) for item, span in pairs)
        answer = replace(answer, ranking=Ranking(items))
    return replace(answer, generated=plain.get("generated", True))
