"""Which part of a labelled text becomes its quote: the sentences that contain the gold answer."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Gold
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.sentences import sentences
from pytest_rageval.text.words import words

__all__ = ["quote_of"]

_VERDICTS = frozenset({"yes", "no", "true", "false", "是", "否"})
"""Answers that stand in many sentences without being the answer."""


def quote_of(text: str, gold: Gold, document: str) -> str:
    """Return the sentences of a labelled text from the first to the last that contain the gold answer.

    A whole chunk is a poor quote: under another chunking the answer may stand in a passage that holds less than half of
    the chunk. But the whole text is the quote if the answer stands in no sentence, if a slot stands in several, so that
    none is certain, or if the document says the sentences more than once.

    Args:
        text: the labelled text.
        gold: the slots of the gold answer.
        document: the text of its document.
    """
    spans = list(_spans(text))
    said = [text[begin:end] for begin, end in spans]
    found: set[int] = set()
    for slot in gold:
        aliases = [alias for alias in slot if fold(alias) not in _VERDICTS]
        hits = [at for at, sentence in enumerate(said) if any(_says(sentence, alias) for alias in aliases)]
        if len(hits) > 1:
            return text.strip()
        found.update(hits)
    if not found:
        return text.strip()
    quote = text[spans[min(found)][0] : spans[max(found)][1]]
    return quote if fold(document).count(fold(quote)) == 1 else text.strip()


def _spans(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for sentence in sentences(text):
        begin = text.index(sentence, at)
        at = begin + len(sentence)
        yield begin, at


def _says(sentence: str, alias: str) -> bool:
    """Return whether a sentence contains an alias, in English as whole words."""
    if has_chinese(alias):
        return contains(sentence, alias)
    wanted = _as_words(alias)
    return bool(wanted.strip()) and wanted in _as_words(sentence)


def _as_words(text: str) -> str:
    """Return the words of a text, folded, with a space on each side, so that only whole words are found."""
    return f" {' '.join(words(fold(text)))} "
