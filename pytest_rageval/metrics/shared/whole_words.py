"""Check whether a text contains an alias as whole words."""

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

    This is `matching.contains` with one more condition, for scripts that separate words by spaces: the alias must not
    begin or end inside a run of letters. "gold" is not in "golden", but "art" is in "art2", and 罗马 is in 在罗马市.
    """
    haystack, length, offset = fold(text), len(fold(alias)), None
    for offset in occurrences(text, alias):
        if _is_whole(haystack, offset, offset + length):
            return True
    return offset is None and contains(text, alias)  # a quantity in another form, such as 5 percent for 5%


def _is_whole(text: str, start: int, end: int) -> bool:
    cuts_word = start > 0 and _in_word(text[start - 1]) and _in_word(text[start])
    return not cuts_word and not (end < len(text) and _in_word(text[end - 1]) and _in_word(text[end]))


def _in_word(character: str) -> bool:
    """Return whether a character is a letter, or a mark on one, of a script that separates words by spaces."""
    return unicodedata.category(character)[0] in "LM" and _WITHOUT_SPACES.match(character) is None
