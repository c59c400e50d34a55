"""Tokens and words: jieba's for text with Chinese in it, otherwise what white space or punctuation parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from itertools import chain
from typing import Concatenate, ParamSpec, TypeVar

from pytest_rageval.text.dictionary import cut_by_user, user_dictionary
from pytest_rageval.text.language import has_chinese

__all__ = ["WORDS", "once_a_text", "tokens", "words", "words_version"]

P = ParamSpec("P")
T = TypeVar("T")

WORDS = "1"
"""Which words `words` finds; another wherever it finds others, as indexes of them are kept."""

SHORT = 10_000
"""Characters of a text of which many are remembered; what is made of one of 10,000 takes up to a megabyte."""

_WORD = re.compile(r"\w+")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_SURROGATE = re.compile("([\ud800-\udfff])")
_PART = re.compile(r"[a-zA-Z0-9]+(?:\.\d+)?%?")

_LATIN = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")

_WHOLE = frozenset({"AT&T", "C#", "C++", "c#", "c++"})
"""The words of jieba's dictionary in ASCII that are not letters and digits alone."""


def once_a_text(make: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Return ``make``, which remembers what it made of the last 128 texts, and of the last 8 that are long.

    Metric after metric compares an answer with all spellings of its case's gold. What was made while another dictionary
    was in use is made anew. What is returned must not be changed.
    """

    def made(dictionary: str, text: str, *args: P.args, **kwargs: P.kwargs) -> T:
        return make(text, *args, **kwargs)

    short: Callable[..., T] = lru_cache(maxsize=128)(made)
    long: Callable[..., T] = lru_cache(maxsize=8)(made)

    @wraps(make)
    def remembered(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return (short if len(text) <= SHORT else long)(user_dictionary(), text, *args, **kwargs)

    return remembered


def words_version() -> str:
    """Return what tells the words that `words` finds from those that it finds by another dictionary."""
    return f"{WORDS} {user_dictionary()}".rstrip()


def tokens(text: str) -> list[str]:
    """Split ``text`` into tokens that are the whole of it, spaces and punctuation included, as jieba's ``cut`` does.

    rjieba cuts with jieba's dictionary and HMM; a run such as ``2021-12-29`` that it keeps whole is cut here as jieba
    cuts what its dictionary does not hold. A lone surrogate, which no UTF-8 can carry, is a token of its own.
    With words of the user's (``rag_user_dict``), which rjieba cannot take, jieba itself cuts.
    """
    cut = cut_by_user()
    if cut is not None:
        return list(cut(text))
    import rjieba

    parts = ([part] if _SURROGATE.match(part) else rjieba.cut(part) for part in _SURROGATE.split(text))
    return list(chain.from_iterable(map(_latin, chain.from_iterable(parts))))


def words(text: str, *, chinese: bool = False) -> list[str]:
    """Split ``text`` into words; punctuation and white space are dropped, nothing else is changed.

    Chinese, which ``chinese`` says of a text without a Han character, is cut by rjieba with jieba's dictionary and HMM.
    It keeps a run such as ``2021-12-29`` or ``www.x.com`` whole; that is cut here as jieba cuts what its dictionary
    does not hold: into letters and digits, with decimals and a percent sign. A lone surrogate, which no UTF-8 can
    carry, separates words. With words of the user's (``rag_user_dict``) jieba itself cuts.
    """
    if not chinese and not has_chinese(text):
        return _WORD.findall(text)
    cut = cut_by_user()
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
