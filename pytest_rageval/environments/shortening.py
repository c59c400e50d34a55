"""Cut texts at the end of a sentence."""

from __future__ import annotations

from pytest_rageval.text.sentences import sentences

__all__ = ["first_sentences", "shortened"]

CONTEXT = 200
"""Characters after a cut that decide whether a stop before it ends a sentence."""


def first_sentences(text: str, most: int) -> str:
    """Return the first ``most`` sentences of a text as they stand in it, without spaces around them."""
    text = text.strip()
    ends = _ends(text)
    return text if len(ends) <= most else text[: ends[most - 1]]


def shortened(text: str, most: int) -> str:
    """Return the first ``most`` characters of a text, up to a sentence end if there is one, and what is left out.

    The note is ``... (N more characters)``.
    """
    if len(text) <= most:
        return text
    end = max((end for end in _ends(text[: most + CONTEXT]) if end <= most), default=most)
    return f"{text[:end]}... ({len(text) - end} more characters)"


def _ends(text: str) -> list[int]:
    """Return where each sentence ends."""
    ends, at = [], 0
    for sentence in sentences(text):
        at = text.index(sentence, at) + len(sentence)
        ends.append(at)
    return ends
