"""Ids of test items: readable, short, and free of anything a shell or pytest could misread."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

__all__ = ["digest", "safe", "unique_ids"]

LIMIT = 60

_UNSAFE = re.compile(r"[^A-Za-z0-9_.=@+~-]")


def digest(*parts: object) -> bytes:
    """Return a hash that depends on ``parts`` alone, the same on every machine and in every run."""
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def safe(name: str) -> str:
    """Return ``name`` as it is when it is plain and of 1 to 60 characters, else a plain form of it.

    Plain are ASCII letters, digits and ``_.=@+~-``. Others become "_", what is over is cut off, and "~" with six
    hexadecimal digits of a hash of the whole name keeps such ids apart.
    """
    if 1 <= len(name) <= LIMIT and not _UNSAFE.search(name):
        return name
    return _hashed(name, 6)


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
    return f"{_UNSAFE.sub('_', name[: LIMIT - 1 - digits])}~{digest(name).hex()[:digits]}"
