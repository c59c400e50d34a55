"""Relations on the form of a question: letter case, width, punctuation, white space."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_rageval.generation.relations.relation import Edit, of_question
from pytest_rageval.text.language import has_chinese

__all__ = ["CASE", "PUNCTUATION", "WHITESPACE", "WIDTH"]

_GAP = re.compile(r"(?<=\S) (?=\S)")
_END = re.compile(r"\s*(?:[?？]+|(?<=[^\W\d_]{2})\.|。)\s*\Z")
"""The end mark of a question; the dot of U.S. or of a number is not one."""

_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_NARROW = {wide: code for code, wide in _WIDE.items()}


def _case(question: str) -> Iterator[Edit]:
    yield 0, len(question), question.lower()
    yield 0, len(question), question.upper()


def _width(question: str) -> Iterator[Edit]:
    """Yield a Chinese question with wide and with narrow ASCII characters."""
    if has_chinese(question):
        yield 0, len(question), question.translate(_WIDE)
        yield 0, len(question), question.translate(_NARROW)


def _punctuation(question: str) -> Iterator[Edit]:
    length = len(_END.sub("", question))
    for mark in ("", "?", "？", "？？") if has_chinese(question) else ("", " ?", "?", "??"):
        yield length, len(question), mark


def _whitespace(question: str) -> Iterator[Edit]:
    yield 0, len(question), f"  {question}  "
    for gap in _GAP.finditer(question):
        yield gap.start(), gap.end(), "  "


CASE = of_question("case", _case)
WIDTH = of_question("width", _width)
PUNCTUATION = of_question("punctuation", _punctuation)
WHITESPACE = of_question("whitespace", _whitespace)
