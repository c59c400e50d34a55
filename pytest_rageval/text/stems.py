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
"""English words that say nothing of what a text is about."""

LONGEST = 40
"""Letters of a word that is stemmed; a longer one is no English word."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a word in lower case: "open" for "opens", "opened" and "opening".

    A word with anything but letters in it, such as "2022", is its own stem. So is a Chinese word, which Snowball's
    English rules leave as it is. The rules run in pure Python, whether or not PyStemmer is installed, because the two
    follow different versions of the rules and a reader has to answer alike on every machine.
    """
    from snowballstemmer.english_stemmer import EnglishStemmer

    if len(word) > LONGEST or not word.isalpha():
        return word
    stemmed: str = EnglishStemmer().stemWord(word)  # a new one each time: one stemmer serves one thread
    return stemmed
