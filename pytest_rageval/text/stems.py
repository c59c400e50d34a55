"""Stems of English words, by the Snowball stemmer."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["STOP_WORDS", "stem"]

_STOPS = (
    "a about also an and approximately are around as at be been by did do does for from had has have i in is it its"
    " just made make makes nearly of on only or over per roughly so than that the there these they this those to total"
    " under was were when which while who will with would you"
)
STOP_WORDS = frozenset(_STOPS.split())
"""English words without a topic of their own."""

LONGEST = 40
"""Longest word that is stemmed, in letters; a longer one is not English."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a word in lower case: "open" for "opens", "opened" and "opening".

    A word with other characters than letters, such as "2022", is its own stem, and so is a Chinese word. The rules run
    in pure Python even if PyStemmer is installed: PyStemmer follows another version of the rules, and results must be
    the same on every machine.
    """
    from snowballstemmer.english_stemmer import EnglishStemmer

    if len(word) > LONGEST or not word.isalpha():
        return word
    stemmed: str = EnglishStemmer().stemWord(word)  # a new one for each call: a stemmer is not thread-safe
    return stemmed
