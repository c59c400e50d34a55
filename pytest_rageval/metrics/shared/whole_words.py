"""Find an answer in evidence: containment that does not cut words."""

from __future__ import annotations

import re
import unicodedata

from pytest_rageval.metrics.shared.matching import contains, fold, occurrences

__all__ = ["contains_whole"]

_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002ebef]"
)
"""Scripts that write words without spaces: Thai, Lao, Tibetan, Burmese, Khmer, Kana, Han."""


def contains_whole(text: str, alias: str) -> bool:
    """Return whether ``text`` contains ``alias`` as whole words.

    This is `matching.contains` with one more condition: if the alias begins or ends with a letter of a script that
    separates words by spaces, no such letter adjoins it there. "gold" is not in "golden", but "art" of "art2" and 罗马
    of 在罗马市 are found.
    """
    haystack, length, place = fold(text), len(fold(alias)), None
    for place in occurrences(text, alias):
        if _is_whole(haystack, place, place + length):
            return True
    return place is None and contains(text, alias)


def _is_whole(text: str, start: int, end: int) -> bool:
    cut_before = start > 0 and _in_word(text[start - 1]) and _in_word(text[start])
    return not cut_before and not (end < len(text) and _in_word(text[end - 1]) and _in_word(text[end]))


def _in_word(character: str) -> bool:
    """Return whether a character is a letter, or a mark on one, of a script that separates words by spaces."""
    return unicodedata.category(character)[0] in "LM" and _WITHOUT_SPACES.match(character) is None
