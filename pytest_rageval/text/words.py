"""Words: jieba's tokens for text with Chinese in it, runs of letters and digits otherwise."""

from __future__ import annotations

import re

from pytest_rageval.text.language import has_chinese

__all__ = ["words"]

_WORD = re.compile(r"\w+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def words(text: str) -> list[str]:
    """Split ``text`` into words; punctuation and white space are dropped, nothing else is changed.

    Chinese is cut by rjieba, whose tokens equal jieba's (default dictionary, HMM on). A lone surrogate,
    which no UTF-8 can carry, separates words.
    """
    if not has_chinese(text):
        return _WORD.findall(text)
    import rjieba

    return [token for token in rjieba.cut(_SURROGATE.sub(" ", text)) if _WORD.search(token)]
