"""Recognise answers that only say yes or no, in English and Chinese."""

from __future__ import annotations

import re

from pytest_rageval.metrics.shared.matching import fold

__all__ = ["affirms"]

_END = r"(?:\s*$|\s*[,;:!，。；：！、—]|\.(?:\s|$)(?!\s*\d)|\s+-)"
_YES = re.compile(rf"(?:yes|true|correct|是的?|对的?|正确|可以|能|会){_END}")
_NO = re.compile(rf"(?:no|false|incorrect|否|不是的?|不对|不正确|错误?|不可以|不能|不会|没有){_END}")


def affirms(answer: str) -> bool | None:
    """Return True for an answer that is or begins with a yes, False for a no, None for any other."""
    text = fold(answer)
    if _YES.match(text):
        return True
    return False if _NO.match(text) else None
