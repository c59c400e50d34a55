"""The relation ``politeness``: add a greeting, a request or thanks to the question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_rageval.generation.relations.invariants import OPENERS, WORD
from pytest_rageval.generation.relations.relation import Edit, of_question
from pytest_rageval.text.language import has_chinese

__all__ = ["POLITENESS"]

_END_MARK = re.compile(r"[.?!。？！…][\"'”’」』)）]*\Z")


def _polite(question: str) -> Iterator[Edit]:
    yield from ((0, len(question), form) for form in _forms(question.strip()))


def _forms(text: str) -> Iterator[str]:
    chinese = has_chinese(text)
    with_end_mark = text if _END_MARK.search(text) else text + ("？" if chinese else "?")
    if chinese:
        yield f"请问{text}"
        yield f"你好，{with_end_mark}谢谢。"
        yield f"麻烦帮我查一下：{text}"
    else:
        yield f"Please tell me: {_within_sentence(text)}"
        yield f"Hi! {with_end_mark} Thanks."
        yield f"Could you help me with this? {with_end_mark}"


def _within_sentence(text: str) -> str:
    """Return a question for use inside a sentence: a first word that is not a name starts in lower case."""
    first = WORD.match(text)
    is_plain = first is not None and first[0].casefold() in OPENERS - {"i"} and first[0][1:].islower()
    return text[:1].lower() + text[1:] if is_plain else text


POLITENESS = of_question("politeness", _polite)
