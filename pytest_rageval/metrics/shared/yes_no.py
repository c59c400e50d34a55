"""Recognise answers that say yes or no, in English and Chinese."""

from __future__ import annotations

import re

from pytest_rageval.metrics.shared.matching import fold

__all__ = ["yes_or_no"]

_END = r"(?:\s*$|\s*[,;:!，。；：！、—]|\.(?:\s|$)(?!\s*\d)|\s+-)"
_YES = re.compile(rf"(?:yes|true|correct|是的?|对的?|正确|可以|能|会){_END}")
_NO = re.compile(rf"(?:no|false|incorrect|否|不是的?|不对|不正确|错误?|不可以|不能|不会|没有){_END}")


def yes_or_no(answer: str) -> bool | None:
    """Return True for an answer that begins with yes, False if it begins with no, else None."""
    text = fold(answer)
    if _YES.match(text):
        return True
    return False if _NO.match(text) else None
