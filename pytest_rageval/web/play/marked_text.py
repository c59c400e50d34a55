"""Texts in pieces for the page: gold answers marked, words of the question underlined, long ones cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_rageval.metrics.shared.places import places
from pytest_rageval.text.words import words

__all__ = ["ANSWER", "ASKED", "MarkedText", "marked_text"]

ANSWER, ASKED = "answer", "asked"
"""Kinds of pieces: a gold answer, and a word of the question."""

SHOWN = 1_500
"""Characters that are drawn at once; the next `FOLDED` ones open on demand."""

FOLDED = 20_000
"""Characters behind the first ones; what follows is in the editor only."""

SHORTEST = 4
"""Letters of a word of the question to underline; shorter ones are in every passage. Of Chinese, two characters."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text for the page.

    Attributes:
        pieces: its beginning as (text, kind); the kind is `ANSWER`, `ASKED` or "".
        folded: what follows, without marks.
        n_left: characters that are not shown at all.
    """

    pieces: list[tuple[str, str]]
    folded: str = ""
    n_left: int = 0


def marked_text(text: str, answers: Iterable[str], question: str) -> MarkedText:
    """Return a text with the gold answers and the words of the question marked."""
    head = text[:SHOWN]
    spans = [(start, end, ANSWER) for start, end in places(head, answers)]
    taken = [(start, end) for start, end, _ in spans]
    spans += [
        (start, end, ASKED)
        for start, end in _asked(head, question)
        if not any(start < stop and begin < end for begin, stop in taken)
    ]
    folded = text[SHOWN : SHOWN + FOLDED]
    return MarkedText(list(_pieces(head, sorted(spans))), folded, max(0, len(text) - SHOWN - FOLDED))


def _asked(text: str, question: str) -> Iterator[tuple[int, int]]:
    """Yield where a text has a word of the question."""
    known = {each.casefold() for each in words(question) if len(each) >= (SHORTEST if each.isascii() else 2)}
    if not known:
        return
    ascii_words = [re.escape(each) for each in known if each.isascii()]
    others = [re.escape(each) for each in known if not each.isascii()]
    patterns = ([rf"\b(?:{'|'.join(ascii_words)})\b"] if ascii_words else []) + others
    for match in re.finditer("|".join(patterns), text, re.IGNORECASE):
        yield match.span()


def _pieces(text: str, spans: list[tuple[int, int, str]]) -> Iterator[tuple[str, str]]:
    at = 0
    for start, end, kind in spans:
        if start > at:
            yield text[at:start], ""
        yield text[start:end], kind
        at = end
    if at < len(text):
        yield text[at:], ""
