"""Unicode normalisation in linear time for any text."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["nfkc"]

MARKS_IN_A_ROW = 30
JOINER = "\u034f"

_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{MARKS_IN_A_ROW + 1},}}")
"""Matches all long runs of combining marks, which are in none of the three classes, and some other runs."""


def nfkc(text: str) -> str:
    """Return the NFKC form of ``text``.

    The standard library sorts a run of n combining marks in n² steps. Therefore U+034F COMBINING GRAPHEME JOINER first
    splits runs of more than 30 marks: this is the Stream-Safe Text Format of UAX #15. No writing system has such runs.
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", _MARKS.sub(_break_up, text))


def _break_up(run: re.Match[str]) -> str:
    """Return the run with a joiner before each mark that would be the 31st in a row after decomposition."""
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
