"""Relations over the form of a question: capital letters, width, punctuation, white space."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_rageval.generation.relations.relation import of_question
from pytest_rageval.text.language import has_chinese

__all__ = ["CASE", "PUNCTUATION", "WHITESPACE", "WIDTH"]

_GAP = re.compile(r"(?<=\S) (?=\S)")
_END = re.compile(r"\s*(?:[?？]+|(?<=[^\W\d_]{2})\.|。)\s*\Z")
"""The mark at the end of a question; the dot of U.S. and of a number is no such mark."""

_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_NARROW = {wide: code for code, wide in _WIDE.items()}


def _case(question: str) -> Iterator[str]:
    yield question.lower()
    yield question.upper()


def _width(question: str) -> Iterator[str]:
    """Yield the forms with wide and with narrow ASCII characters, if the question is Chinese."""
    if has_chinese(question):
        yield question.translate(_WIDE)
        yield question.translate(_NARROW)


def _punctuation(question: str) -> Iterator[str]:
    bare = _END.sub("", question)
    if has_chinese(question):
        yield from (bare, f"{bare}?", f"{bare}？", f"{bare}？？")
    else:
        yield from (bare, f"{bare} ?", f"{bare}?", f"{bare}??")


def _whitespace(question: str) -> Iterator[str]:
    yield f"  {question}  "
    for gap in _GAP.finditer(question):
        yield f"{question[: gap.start()]}  {question[gap.end() :]}"


CASE = of_question("case", _case)
WIDTH = of_question("width", _width)
PUNCTUATION = of_question("punctuation", _punctuation)
WHITESPACE = of_question("whitespace", _whitespace)
