"""Unicode normalisation whose time grows linearly, whatever the text."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["nfkc"]

MARKS_IN_A_ROW = 30
JOINER = "\u034f"

_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{MARKS_IN_A_ROW + 1},}}")
"""Every long run of combining marks is (part of) a match, for a mark is none of the three; other runs match too."""


def nfkc(text: str) -> str:
    """Return the NFKC form of ``text``.

    The standard library sorts a run of n combining marks in n² steps. Runs of more than 30 are therefore
    broken up with U+034F COMBINING GRAPHEME JOINER first, which is the Stream-Safe Text Format of UAX #15;
    no writing system has such runs.
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", _MARKS.sub(_broken_up, text))


def _broken_up(run: re.Match[str]) -> str:
    """Return the run with a joiner before each mark that would be the 31st in a row, counted decomposed."""
    pieces: list[str] = []
    marks = 0
    for character in run[0]:
        decomposed = unicodedata.normalize("NFKD", character)
        marks = marks + len(decomposed) if unicodedata.combining(decomposed[0]) else 0
        if marks > MARKS_IN_A_ROW:
            pieces.append(JOINER)
            marks = len(decomposed)
        pieces.append(character)
    return "".join(pieces)
