"""Ids of test items: readable, short, and safe for a shell and for pytest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache

__all__ = ["digest", "safe", "unique_ids"]

LIMIT = 60

_UNSAFE = re.compile(r"[^A-Za-z0-9_.=@+~-]")


def digest(*parts: object) -> bytes:
    """Return a hash of ``parts`` that is the same on every machine and in every run."""
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def safe(name: str) -> str:
    """Return a name as a safe id: unchanged if it is safe and has 1 to 60 characters, otherwise converted.

    Safe characters are ASCII letters, digits and ``_.=@+~-``. OmniEval's Chinese topics and tasks between hyphens are
    translated to English; other characters become "_". A long name is cut. A converted id ends with "~" and six
    hexadecimal digits of a hash of the whole name, so it stays unique.
    """
    text = _in_english(name)
    return text if 1 <= len(text) <= LIMIT and not _UNSAFE.search(text) else _with_hash(name, 6)


def unique_ids(names: Iterable[str]) -> list[str]:
    """Return a safe id for each name; names must be unique. If two ids collide, the second gets a longer hash."""
    used: set[str] = set()
    ids = []
    for name in names:
        plain = safe(name)
        if plain in used:
            plain = _with_hash(name, 32)
        used.add(plain)
        ids.append(plain)
    return ids


def _with_hash(name: str, digits: int) -> str:
    return f"{_UNSAFE.sub('_', _in_english(name)[: LIMIT - 1 - digits])}~{digest(name).hex()[:digits]}"


def _in_english(name: str) -> str:
    return name if name.isascii() else "-".join(_english().get(part, part) for part in name.split("-"))


@cache
def _english() -> Mapping[str, str]:
    """Return OmniEval's Chinese names -> safe English names."""
    from pytest_rageval.datasets.omnieval import TASK_OF
    from pytest_rageval.datasets.topics import TOPICS

    topics = {zh: en for each in TOPICS for zh, en in ((each.zh_1, each.en_1), (each.zh, each.en))}
    return {zh: re.sub(r"[^A-Za-z0-9]+", "_", en) for zh, en in topics.items()} | TASK_OF
