"""Search records by a field: it contains all query words or is spelled almost the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_rageval.text.language import CJK
from pytest_rageval.text.unicode import nfkc

__all__ = ["SearchedField", "folded_words"]

NEAR = 90
"""Smallest token-set ratio of rapidfuzz (0..100) that is a match."""

LONGEST = 1_000
"""Largest number of characters of a query that is matched by spelling; longer queries must be contained."""

_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CHINESE = re.compile(f"[{CJK}]")


class SearchedField:
    """An index over one field of all records.

    Args:
        values: for each record, the texts of the field; a record matches if one of them matches.
    """

    def __init__(self, values: Iterable[Sequence[str]]) -> None:
        self._owners: list[int] = []
        self._texts: list[str] = []
        self._words: list[frozenset[str]] = []
        for owner, texts in enumerate(values):
            for text in texts:
                words = folded_words(text)
                self._owners.append(owner)
                self._texts.append(" ".join(words))
                self._words.append(frozenset(words))

    def matching(self, query: str) -> set[int]:
        """Return the indexes of the matching records; none for a query without words.

        A text matches if it contains each word of the query, or if its token-set ratio with the query is 90 or more.
        Words are compared after NFKC and case folding, without punctuation. A Chinese word may be part of a longer one.
        """
        words = folded_words(query)
        if not words:
            return set()
        distinct = list(dict.fromkeys(words))
        containing = {owner for at, owner in enumerate(self._owners) if self._contains(at, distinct)}
        return containing | self._near(" ".join(words)) if len(query) <= LONGEST else containing

    def equal(self, query: str) -> set[int]:
        """Return the indexes of the records with a text of the same words in the same order."""
        text = " ".join(folded_words(query))
        return {owner for owner, each in zip(self._owners, self._texts, strict=True) if each == text}

    def _contains(self, at: int, words: Sequence[str]) -> bool:
        text_words = self._words[at]
        return all(
            word in text_words or (_CHINESE.match(word) is not None and word in self._texts[at]) for word in words
        )

    def _near(self, query: str) -> set[int]:
        from rapidfuzz import fuzz, process

        near = process.extract(query, self._texts, scorer=fuzz.token_set_ratio, score_cutoff=NEAR, limit=None)
        return {self._owners[at] for _, _, at in near}


def folded_words(text: str) -> list[str]:
    """Return the words of a text after NFKC and case folding; a run of Chinese characters is a word."""
    return _WORD.findall(nfkc(nfkc(text).casefold()))
