"""Cut a text into terms for BM25: case-folded words, stemmed or not."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.text.words import words, words_version

__all__ = ["STEMMERS", "Terms", "terms_by", "versions"]

STEMMERS = ("none", "english")

Terms = Callable[[str], list[str]]
"""Cuts a text into terms."""


def terms_by(stemmer: str) -> Terms:
    """Return a function that cuts a text into case-folded words, stemmed by one of `STEMMERS`.

    Raises:
        MissingDependencyError: PyStemmer (Snowball's stemmers) is not installed.
    """
    if stemmer == "none":
        return _case_folded_words
    try:
        import Stemmer  # noqa: F401
    except ImportError:
        raise MissingDependencyError(f"stemmer = {stemmer}", "stemming") from None
    return _StemmedTerms(stemmer)


def versions(stemmer: str) -> dict[str, str]:
    """Return name -> version of everything that affects the terms of a text."""
    from importlib.metadata import version

    libraries = ["rjieba"] if stemmer == "none" else ["rjieba", "PyStemmer"]
    return {
        "words": words_version(),
        "unicode": unicodedata.unidata_version,
        **{name: version(name) for name in libraries},
    }


class _StemmedTerms:
    """Cut a text into stemmed words; each thread has its own stemmer, because PyStemmer is not thread-safe."""

    def __init__(self, stemmer: str) -> None:
        self._stemmer = stemmer
        self._local = threading.local()

    def __call__(self, text: str) -> list[str]:
        if not hasattr(self._local, "stemmer"):
            import Stemmer

            self._local.stemmer = Stemmer.Stemmer(self._stemmer)
        stems: list[str] = self._local.stemmer.stemWords(_case_folded_words(text))
        return stems


def _case_folded_words(text: str) -> list[str]:
    if text.isascii():
        return words(text.lower())
    return [word.casefold() for word in words(text)]
