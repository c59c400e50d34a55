"""Detect the language of a text for tokenisation: Chinese or English."""

from __future__ import annotations

import re

__all__ = ["CJK", "detect_language", "has_chinese", "main_language"]

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ebef"
"""Han characters, for use inside a character class of a regular expression."""

_HAN = f"[{CJK}]"  # `re` compiles it only when a text is not ASCII


def has_chinese(text: str) -> bool:
    """Return whether ``text`` contains a Han character."""
    return not text.isascii() and re.search(_HAN, text) is not None


def detect_language(text: str) -> str:
    """Return "zh" for a text with a Han character, else "en"."""
    return "zh" if has_chinese(text) else "en"


def main_language(text: str, default: str) -> str:
    """Return the language of most words of a text: "zh" or "en"; ``default`` if it is undecided.

    A Han character counts as a word. A text with both, but not more Han characters than words in Latin, is undecided.
    """
    han = 0 if text.isascii() else len(re.findall(_HAN, text))
    latin = len(re.findall("[A-Za-z]+", text))
    return "zh" if han > latin else "en" if latin and not han else default
