"""Load the dictionary that splits Chinese into words: jieba's, with the user's words if any."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from pytest_rageval.errors import MissingDependencyError, SettingError, short_repr
from pytest_rageval.folders import regular_path

__all__ = ["use_dictionaries", "user_cut", "user_dictionary"]

Cut = Callable[[str], Iterable[str]]

_in_use: list[tuple[str, str]] = []
"""The digest and the text of the user dictionary of this process; empty without one."""


def use_dictionaries(paths: Sequence[Path]) -> None:
    """Add the words of these files, in jieba's format, to jieba's dictionary; without files, use only jieba's.

    Raises:
        SettingError: a file cannot be read.
        MissingDependencyError: jieba is not installed.
    """
    _in_use.clear()
    if not paths:
        return
    if find_spec("jieba") is None:
        raise MissingDependencyError("rag_user_dict", "chinese")
    text = "\n".join(map(_read, paths))
    _in_use.append((f"sha256:{sha256(text.encode()).hexdigest()}", text))


def user_dictionary() -> str:
    """Return the sha256 of the user dictionary; "" if there is none."""
    return _in_use[0][0] if _in_use else ""


def user_cut() -> Cut | None:
    """Return a function that splits text with the user dictionary; None if there is none."""
    return _jieba_with(_in_use[0][1]) if _in_use else None


def _read(path: Path) -> str:
    try:
        return regular_path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    raise SettingError(
        f"rag_user_dict: {short_repr(str(path), limit=400)} cannot be read ({reason}); "
        "give a file with one word per line, in the format of jieba's load_userdict"
    )


@lru_cache(maxsize=1)
def _jieba_with(text: str) -> Cut:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba warns about escapes in its patterns and about pkg_resources
        import jieba
    level = jieba.default_logger.level
    jieba.setLogLevel(logging.WARNING)
    try:
        tokenizer = jieba.Tokenizer()
        tokenizer.load_userdict(io.StringIO(text))
    finally:
        jieba.setLogLevel(level)
    cut: Cut = tokenizer.cut
    return cut
