"""Mark gold answers and question words in texts of the page, and cut long texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_rageval.metrics.shared.alias_spans import alias_spans
from pytest_rageval.text.words import words

__all__ = ["ANSWER", "ASKED", "MarkedText", "marked_text"]

ANSWER, ASKED = "answer", "asked"
"""Kinds of pieces: a gold answer, and a word of the question."""

FIRST_CHARACTERS = 1_500
"""Number of characters that the page shows at first; the next `FOLDED_CHARACTERS` ones open on demand."""

FOLDED_CHARACTERS = 20_000
"""Number of characters that open on demand; only the editor shows the rest."""

SHORTEST_WORD = 4
"""Minimum letters of an underlined question word; shorter words are in every passage. For Chinese it is 2."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text for the page.

    Attributes:
        pieces: its beginning as (text, kind); the kind is `ANSWER`, `ASKED` or "".
        folded: the text after it, without marks.
        n_left: number of characters that the page does not show.
    """

    pieces: list[tuple[str, str]]
    folded: str = ""
    n_left: int = 0


def marked_text(text: str, answers: Iterable[str], question: str) -> MarkedText:
    """Return a text with the gold answers and the words of the question marked."""
    head = text[:FIRST_CHARACTERS]
    spans = [(start, end, ANSWER) for start, end in alias_spans(head, answers)]
    gold_spans = [(start, end) for start, end, _ in spans]
    spans += [
        (start, end, ASKED)
        for start, end in _question_words(head, question)
        if not any(start < stop and begin < end for begin, stop in gold_spans)
    ]
    folded = text[FIRST_CHARACTERS : FIRST_CHARACTERS + FOLDED_CHARACTERS]
    return MarkedText(
        list(_pieces(head, sorted(spans))), folded, max(0, len(text) - FIRST_CHARACTERS - FOLDED_CHARACTERS)
    )


def _question_words(text: str, question: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words of the question in a text."""
    targets = {each.casefold() for each in words(question) if len(each) >= (SHORTEST_WORD if each.isascii() else 2)}
    if not targets:
        return
    ascii_words = [re.escape(each) for each in targets if each.isascii()]
    others = [re.escape(each) for each in targets if not each.isascii()]
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
