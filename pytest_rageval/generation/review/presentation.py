"""What a person sees of a draft: its digest, and its passages with the evidence marked."""

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
    """A source of a draft, whole.

    Attributes:
        passage: the passage.
        pieces: its text in pieces, in order; joined they are the text.
    """

    passage: Passage
    pieces: tuple[TextPiece, ...]


def seen_sha(draft: Draft) -> str:
    """Return the sha256 of what a person sees: if it differs, a decision about the draft no longer counts."""
    seen = [
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
    return hashlib.sha256(json.dumps(seen, ensure_ascii=True).encode()).hexdigest()


def marked_passages(draft: Draft) -> list[MarkedPassage]:
    """Return the sources of a draft with its quotes marked; without quotes, the answers are marked."""
    spans: dict[str, list[tuple[int, int]]] = {each.id: [] for each in draft.sources}
    kind = "evidence" if draft.evidence else "answer"
    if draft.evidence:
        for _, source, span in located_quotes(draft):
            if source is not None:
                spans[source.id].append(span)
    else:
        aliases = [alias for slot in draft.gold for alias in slot]
        for source in draft.sources:
            found = (quote_span(source.text, alias) for alias in aliases)
            spans[source.id] += [span for span in found if span is not None]
    return [MarkedPassage(each, tuple(_stretches(each.text, spans[each.id], kind))) for each in draft.sources]


def _stretches(text: str, spans: list[tuple[int, int]], kind: str) -> list[TextPiece]:
    """Return a text in pieces, marked in the spans; spans may overlap."""
    pieces: list[TextPiece] = []
    at = 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        start = max(start, at)
        pieces += [(text[at:start], ""), (text[start:end], kind)]
        at = end
    return [piece for piece in [*pieces, (text[at:], "")] if piece[0]]
