"""Search records by a field: all words of the query are in it, or it is spelled nearly so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_rageval.text.language import CJK
from pytest_rageval.text.unicode import nfkc

__all__ = ["SearchedField", "folded_words"]

NEAR = 90
"""Smallest token-set ratio (0..100) of rapidfuzz at which a field matches."""

LONGEST = 1_000
"""The most characters of a query whose spelling is compared; a longer one has to be contained."""

_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CHINESE = re.compile(f"[{CJK}]")


class SearchedField:
    """One field of all records.

    Args:
        values: for each record the texts of the field; one of them has to match.
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
        """Return the numbers of the records that match; none for a query without a word.

        A text matches if it contains each word of the query, or if the token-set ratio of both is 90 or more. Words
        are compared after NFKC and case folding, without punctuation. Chinese words may stand within longer ones.
        """
        words = folded_words(query)
        if not words:
            return set()
        distinct = list(dict.fromkeys(words))
        found = {owner for at, owner in enumerate(self._owners) if self._contains(at, distinct)}
        return found | self._near(" ".join(words)) if len(query) <= LONGEST else found

    def equal(self, query: str) -> set[int]:
        """Return the numbers of the records whose text has the same words in the same order."""
        text = " ".join(folded_words(query))
        return {owner for owner, own in zip(self._owners, self._texts, strict=True) if own == text}

    def _contains(self, at: int, words: Sequence[str]) -> bool:
        own = self._words[at]
        return all(word in own or (_CHINESE.match(word) is not None and word in self._texts[at]) for word in words)

    def _near(self, query: str) -> set[int]:
        from rapidfuzz import fuzz, process

        near = process.extract(query, self._texts, scorer=fuzz.token_set_ratio, score_cutoff=NEAR, limit=None)
        return {self._owners[at] for _, _, at in near}


def folded_words(text: str) -> list[str]:
    """Return the words of a text in NFKC, case folded; a run of Chinese characters is a word."""
    return _WORD.findall(nfkc(nfkc(text).casefold()))
