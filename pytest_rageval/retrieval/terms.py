"""The terms of a text that BM25 counts."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.text.words import words, words_version

__all__ = ["STEMMERS", "Terms", "terms_by", "versions"]

STEMMERS = ("none", "english")

Terms = Callable[[str], list[str]]


def terms_by(stemmer: str) -> Terms:
    """Return what cuts a text into case-folded words, stemmed by one of `STEMMERS`.

    Raises:
        MissingDependencyError: Snowball's stemmers are not installed.
    """
    if stemmer == "none":
        return _folded
    try:
        import Stemmer  # noqa: F401
    except ImportError:
        raise MissingDependencyError(f"stemmer = {stemmer}", "stemming") from None
    return _Stemmed(stemmer)


def versions(stemmer: str) -> dict[str, str]:
    """Return the versions that decide which terms a text has."""
    from importlib.metadata import version

    made_by = ["rjieba"] if stemmer == "none" else ["rjieba", "PyStemmer"]
    return {
        "words": words_version(),
        "unicode": unicodedata.unidata_version,
        **{name: version(name) for name in made_by},
    }


class _Stemmed:
    """Stemmed words, by a stemmer for each thread: one bears no two."""

    def __init__(self, stemmer: str) -> None:
        self._stemmer = stemmer
        self._own = threading.local()

    def __call__(self, text: str) -> list[str]:
        if not hasattr(self._own, "stemmer"):
            import Stemmer

            self._own.stemmer = Stemmer.Stemmer(self._stemmer)
        stems: list[str] = self._own.stemmer.stemWords(_folded(text))
        return stems


def _folded(text: str) -> list[str]:
    if text.isascii():
        return words(text.lower())
    return [word.casefold() for word in words(text)]
