"""Compute the stems of English words with the Snowball stemmer."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["STOP_WORDS", "stem"]

_STOPS = (
    "a about also an and approximately are around as at be been by did do does for from had has have i in is it its"
    " just made make makes nearly of on only or over per roughly so than that the there these they this those to total"
    " under was were when which while who will with would you"
)
STOP_WORDS = frozenset(_STOPS.split())
"""Common English words that name no topic."""

LONGEST = 40
"""Maximum number of letters of a word to stem; longer words are not English."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a word in lower case: "open" for "opens", "opened" and "opening".

    The stem of a Chinese word, or of a word with other characters than letters such as "2022", is the word itself. The
    rules run in pure Python even if PyStemmer is installed, because PyStemmer follows another version of the rules and
    results must be the same on every machine.
    """
    from snowballstemmer.english_stemmer import EnglishStemmer

    if len(word) > LONGEST or not word.isalpha():
        return word
    result: str = EnglishStemmer().stemWord(word)  # a new stemmer for each call, because stemmers are not thread-safe
    return result
