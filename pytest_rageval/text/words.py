"""Split text into tokens or words: Chinese like jieba, other text by punctuation and space."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from itertools import chain
from typing import Concatenate, ParamSpec, TypeVar

from pytest_rageval.text.dictionary import user_cut, user_dictionary
from pytest_rageval.text.language import has_chinese

__all__ = ["WORDS", "cached_per_text", "tokens", "words", "words_version"]

P = ParamSpec("P")
T = TypeVar("T")

WORDS = "1"
"""Version of `words`; change it to invalidate stored indexes when its result changes."""

SHORT = 10_000
"""Maximum characters of a text in the larger cache; a result for 10,000 characters takes up to a megabyte."""

_WORD = re.compile(r"\w+")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_SURROGATE = re.compile("([\ud800-\udfff])")
_PART = re.compile(r"[a-zA-Z0-9]+(?:\.\d+)?%?")

_LATIN = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")

_WHOLE = frozenset({"AT&T", "C#", "C++", "c#", "c++"})
"""The ASCII words of jieba's dictionary with other characters than letters and digits."""


def cached_per_text(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Return ``function`` with a cache for the last 128 short texts and the last 8 long texts.

    Each metric compares an answer with all aliases of its gold answer, so the same texts repeat. Another user
    dictionary uses other entries of the cache. Callers must not change a result.
    """

    def compute(dictionary: str, text: str, *args: P.args, **kwargs: P.kwargs) -> T:
        return function(text, *args, **kwargs)

    short: Callable[..., T] = lru_cache(maxsize=128)(compute)
    long: Callable[..., T] = lru_cache(maxsize=8)(compute)

    @wraps(function)
    def cached(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return (short if len(text) <= SHORT else long)(user_dictionary(), text, *args, **kwargs)

    return cached


def words_version() -> str:
    """Return the version of `words` together with the user dictionary's digest."""
    return f"{WORDS} {user_dictionary()}".rstrip()


def tokens(text: str) -> list[str]:
    """Split ``text`` into tokens like jieba's ``cut``; they include spaces and punctuation.

    rjieba cuts with jieba's dictionary and HMM. It leaves a run such as ``2021-12-29`` whole, and this function cuts it
    like jieba. A lone surrogate, which UTF-8 cannot encode, is a token. With a user dictionary (``rag_user_dict``),
    which rjieba does not support, jieba itself cuts.
    """
    cut = user_cut()
    if cut is not None:
        return list(cut(text))
    import rjieba

    parts = ([part] if _SURROGATE.match(part) else rjieba.cut(part) for part in _SURROGATE.split(text))
    return list(chain.from_iterable(map(_latin, chain.from_iterable(parts))))


def words(text: str, *, chinese: bool = False) -> list[str]:
    """Split ``text`` into words; drop punctuation and white space.

    rjieba cuts Chinese with jieba's dictionary and HMM; ``chinese=True`` also applies it to a text without a Han
    character. It leaves a run such as ``2021-12-29`` or ``www.x.com`` whole, and this function cuts it like jieba: into
    letters and digits, with decimals and a percent sign. A lone surrogate, which UTF-8 cannot encode, separates words.
    With a user dictionary (``rag_user_dict``) jieba itself cuts.
    """
    if not chinese and not has_chinese(text):
        return _WORD.findall(text)
    cut = user_cut()
    if cut is not None:
        return [token for token in cut(text) if _LETTER_OR_DIGIT.search(token)]
    import rjieba

    return list(chain.from_iterable(map(_parts, rjieba.cut(_SURROGATE.sub(" ", text)))))


@lru_cache(maxsize=16384)
def _parts(token: str) -> tuple[str, ...]:
    if token.isascii() and token not in _WHOLE:
        return tuple(_PART.findall(token))
    return (token,) if _LETTER_OR_DIGIT.search(token) else ()


@lru_cache(maxsize=16384)
def _latin(token: str) -> tuple[str, ...]:
    if token.isascii() and token not in _WHOLE:
        return tuple(filter(None, _LATIN.split(token)))
    return (token,)
