"""Cut texts at the end of a sentence."""

from __future__ import annotations

from pytest_rageval.text.sentences import sentences

__all__ = ["cut_text", "first_sentences"]

CONTEXT = 200
"""Number of characters after a cut that are read to decide whether a full stop before it ends a sentence."""


def first_sentences(text: str, limit: int) -> str:
    """Return the first ``limit`` sentences of a text unchanged, without surrounding spaces."""
    text = text.strip()
    ends = _ends(text)
    return text if len(ends) <= limit else text[: ends[limit - 1]]


def cut_text(text: str, limit: int) -> str:
    """Cut a text to ``limit`` characters, at the end of a sentence if possible, and append a note.

    The note is ``... (N more characters)``. A text that fits is returned unchanged.
    """
    if len(text) <= limit:
        return text
    end = max((end for end in _ends(text[: limit + CONTEXT]) if end <= limit), default=limit)
    return f"{text[:end]}... ({len(text) - end} more characters)"


def _ends(text: str) -> list[int]:
    """Return the end position of each sentence."""
    ends, at = [], 0
    for sentence in sentences(text):
        at = text.index(sentence, at) + len(sentence)
        ends.append(at)
    return ends
