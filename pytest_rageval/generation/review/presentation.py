"""The content of a draft that a person sees: its digest, and passages with marked evidence."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.quotes import located_quotes, quote_span
from pytest_rageval.model.case import Passage

__all__ = ["MarkedPassage", "TextPiece", "marked_passages", "seen_sha"]

TextPiece = tuple[str, str]
"""A piece of a text with its kind: ``""``, ``evidence``, or ``answer`` if the draft has no quote."""


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    """A whole source of a draft, with marked pieces.

    Attributes:
        passage: the passage.
        pieces: its text in pieces, in order.
    """

    passage: Passage
    pieces: tuple[TextPiece, ...]


def seen_sha(draft: Draft) -> str:
    """Return the sha256 of the content that a person sees; a decision counts only for the same sha256."""
    content = [
        draft.question,
        draft.gold,
        draft.task,
        draft.topic,
        draft.level,
        draft.language,
        [(turn.question, turn.answer) for turn in draft.history],
        draft.evidence,
        [(each.id, each.title, each.text) for each in draft.sources],
    ]
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()


def marked_passages(draft: Draft) -> list[MarkedPassage]:
    """Return the sources of a draft with marked quotes; without quotes, the answers are marked."""
    spans: dict[str, list[tuple[int, int]]] = {each.id: [] for each in draft.sources}
    kind = "evidence" if draft.evidence else "answer"
    if draft.evidence:
        for _, source, span in located_quotes(draft):
            if source is not None:
                spans[source.id].append(span)
    else:
        aliases = [alias for slot in draft.gold for alias in slot]
        for source in draft.sources:
            answer_spans = (quote_span(source.text, alias) for alias in aliases)
            spans[source.id] += [span for span in answer_spans if span is not None]
    return [MarkedPassage(each, tuple(_pieces(each.text, spans[each.id], kind))) for each in draft.sources]


def _pieces(text: str, spans: list[tuple[int, int]], kind: str) -> list[TextPiece]:
    """Split a text into pieces, marked inside ``spans``; spans may overlap."""
    pieces: list[TextPiece] = []
    at = 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        start = max(start, at)
        pieces += [(text[at:start], ""), (text[start:end], kind)]
        at = end
    return [piece for piece in [*pieces, (text[at:], "")] if piece[0]]
