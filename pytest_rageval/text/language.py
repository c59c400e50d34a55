"""Detect the language of a text for tokenisation: Chinese or English."""

from __future__ import annotations

import re

__all__ = ["CJK", "detect_language", "has_chinese"]

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ebef"
"""Han characters, for use inside a character class of a regular expression."""

_HAN = f"[{CJK}]"  # `re` compiles it only when a text is not ASCII


def has_chinese(text: str) -> bool:
    """Return whether ``text`` holds a Han character."""
    return not text.isascii() and re.search(_HAN, text) is not None


def detect_language(text: str) -> str:
    """Return "zh" for a text with a Han character, else "en"."""
    return "zh" if has_chinese(text) else "en"
