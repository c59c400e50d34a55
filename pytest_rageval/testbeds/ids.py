"""Ids of test items: readable, short, and free of anything a shell or pytest could misread."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache

__all__ = ["digest", "safe", "unique_ids"]

LIMIT = 60

_UNSAFE = re.compile(r"[^A-Za-z0-9_.=@+~-]")


def digest(*parts: object) -> bytes:
    """Return a hash that depends on ``parts`` alone, the same on every machine and in every run."""
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def safe(name: str) -> str:
    """Return ``name`` as it is when it is plain and of 1 to 60 characters, else a plain form of it.

    Plain are ASCII letters, digits and ``_.=@+~-``. OmniEval's Chinese names of topics and tasks, where they stand
    between hyphens, become English; other characters become "_", what is over is cut off, and "~" with six hexadecimal
    digits of a hash of the whole name keeps such ids apart.
    """
    text = _in_english(name)
    return text if 1 <= len(text) <= LIMIT and not _UNSAFE.search(text) else _hashed(name, 6)


def unique_ids(names: Iterable[str]) -> list[str]:
    """Return the safe form of each of ``names``, which differ; a later one that would collide gets a longer hash."""
    taken: set[str] = set()
    ids = []
    for name in names:
        plain = safe(name)
        if plain in taken:
            plain = _hashed(name, 32)
        taken.add(plain)
        ids.append(plain)
    return ids


def _hashed(name: str, digits: int) -> str:
    return f"{_UNSAFE.sub('_', _in_english(name)[: LIMIT - 1 - digits])}~{digest(name).hex()[:digits]}"


def _in_english(name: str) -> str:
    return name if name.isascii() else "-".join(_english().get(part, part) for part in name.split("-"))


@cache
def _english() -> Mapping[str, str]:
    """Return plain English of OmniEval's Chinese names."""
    from pytest_rageval.datasets.omnieval import TASK_OF
    from pytest_rageval.datasets.topics import TOPICS

    topics = {zh: en for each in TOPICS for zh, en in ((each.zh_1, each.en_1), (each.zh, each.en))}
    return {zh: re.sub(r"[^A-Za-z0-9]+", "_", en) for zh, en in topics.items()} | TASK_OF
