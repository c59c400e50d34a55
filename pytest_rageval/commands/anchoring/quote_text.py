"""Choose the quote of a labelled text: the sentences that contain the gold answer."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Gold
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.sentences import sentences
from pytest_rageval.text.words import words

__all__ = ["quote_of"]

_VERDICTS = frozenset({"yes", "no", "true", "false", "是", "否"})
"""Answers that occur in many sentences without answering the question."""


def quote_of(text: str, gold: Gold, document: str) -> str:
    """Return the part of a labelled text from its first to its last sentence with a part of the gold answer.

    A whole chunk is a poor quote: under another chunking, the passage with the answer may contain less than half of it.
    But the whole text is the quote if no sentence contains the answer, if several sentences contain the same slot, or
    if the document contains the sentences more than once.

    Args:
        text: the labelled text.
        gold: the slots of the gold answer.
        document: the text of its document.
    """
    spans = list(_spans(text))
    lines = [text[begin:end] for begin, end in spans]
    positions: set[int] = set()
    for slot in gold:
        aliases = [alias for alias in slot if fold(alias) not in _VERDICTS]
        hits = [at for at, sentence in enumerate(lines) if any(_contains(sentence, alias) for alias in aliases)]
        if len(hits) > 1:
            return text.strip()
        positions.update(hits)
    if not positions:
        return text.strip()
    quote = text[spans[min(positions)][0] : spans[max(positions)][1]]
    return quote if fold(document).count(fold(quote)) == 1 else text.strip()


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each sentence, in characters."""
    at = 0
    for sentence in sentences(text):
        begin = text.index(sentence, at)
        at = begin + len(sentence)
        yield begin, at


def _contains(sentence: str, alias: str) -> bool:
    """Return whether a sentence contains an alias, in English as whole words."""
    if has_chinese(alias):
        return contains(sentence, alias)
    pattern = _as_words(alias)
    return bool(pattern.strip()) and pattern in _as_words(sentence)


def _as_words(text: str) -> str:
    """Return the folded words of a text with spaces around each, to match whole words only."""
    return f" {' '.join(words(fold(text)))} "
