"""Cut a text into the terms that BM25 counts."""

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
    """Return a function that cuts a text into case-folded words, stemmed by one of `STEMMERS`.

    Raises:
        MissingDependencyError: PyStemmer (Snowball's stemmers) is not installed.
    """
    if stemmer == "none":
        return _case_folded
    try:
        import Stemmer  # noqa: F401
    except ImportError:
        raise MissingDependencyError(f"stemmer = {stemmer}", "stemming") from None
    return _Stemmed(stemmer)


def versions(stemmer: str) -> dict[str, str]:
    """Return the versions of everything that affects the terms of a text."""
    from importlib.metadata import version

    libraries = ["rjieba"] if stemmer == "none" else ["rjieba", "PyStemmer"]
    return {
        "words": words_version(),
        "unicode": unicodedata.unidata_version,
        **{name: version(name) for name in libraries},
    }


class _Stemmed:
    """Stemmed words; each thread has its own stemmer because PyStemmer is not thread-safe."""

    def __init__(self, stemmer: str) -> None:
        self._stemmer = stemmer
        self._local = threading.local()

    def __call__(self, text: str) -> list[str]:
        if not hasattr(self._local, "stemmer"):
            import Stemmer

            self._local.stemmer = Stemmer.Stemmer(self._stemmer)
        stems: list[str] = self._local.stemmer.stemWords(_case_folded(text))
        return stems


def _case_folded(text: str) -> list[str]:
    if text.isascii():
        return words(text.lower())
    return [word.casefold() for word in words(text)]
