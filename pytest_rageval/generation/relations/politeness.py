"""The relation ``politeness``: the question with a greeting, a request or thanks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_rageval.generation.relations.relation import Edit, of_question
from pytest_rageval.generation.relations.unchanged import OPENERS, WORD
from pytest_rageval.text.language import has_chinese

__all__ = ["POLITENESS"]

_ENDED = re.compile(r"[.?!。？！…][\"'”’」』)）]*\Z")


def _polite(question: str) -> Iterator[Edit]:
    yield from ((0, len(question), form) for form in _forms(question.strip()))


def _forms(text: str) -> Iterator[str]:
    chinese = has_chinese(text)
    whole = text if _ENDED.search(text) else text + ("？" if chinese else "?")
    if chinese:
        yield f"请问{text}"
        yield f"你好，{whole}谢谢。"
        yield f"麻烦帮我查一下：{text}"
    else:
        yield f"Please tell me: {_inside(text)}"
        yield f"Hi! {whole} Thanks."
        yield f"Could you help me with this? {whole}"


def _inside(text: str) -> str:
    """Return a question as it stands within a sentence: a first word that is no name begins with a small letter."""
    first = WORD.match(text)
    is_plain = first is not None and first[0].casefold() in OPENERS - {"i"} and first[0][1:].islower()
    return text[:1].lower() + text[1:] if is_plain else text


POLITENESS = of_question("politeness", _polite)
