"""Secrets of the environment, kept out of what is written down."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

__all__ = ["mask", "masked"]

SHORTEST = 8
"""Characters: a shorter value is no secret, and stands in too many texts by chance."""

_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Z]?[a-z]{,11}|[A-Z]{,12}|[-+]?[0-9]+(?:[.,][0-9]+)*")
"""One word of at most twelve letters (``disabled``), or a number."""

Environment = tuple[tuple[str, str], ...]


def mask(text: str) -> str:
    """Return ``text`` with each secret of the environment replaced by ``<NAME>``, the name of its variable.

    A secret is the value of a variable whose name holds KEY, TOKEN, SECRET, PASSWORD, PASSWD or CREDENTIAL, when it
    has 8 characters at least and is no plain word, no number and no existing path.
    """
    names, pattern = _secrets(tuple(os.environ.items()))
    return _replaced(text, names, pattern)


def masked(value: Any) -> Any:
    """Return a JSON value with `mask` applied to every text in it, the keys of its objects among them."""
    names, pattern = _secrets(tuple(os.environ.items()))
    return _walked(value, names, pattern) if names else value


@lru_cache(maxsize=4)
def _secrets(environment: Environment) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """Return value -> ``<NAME>``, and the pattern of all values, the longest first."""
    names: dict[str, str] = {}
    for name, value in sorted(environment):
        if _SECRET_NAME.search(name) and len(value) >= SHORTEST and not _is_plain(value):
            names.setdefault(value, f"<{name}>")
    longest_first = sorted(names, key=lambda value: (-len(value), value))
    return names, re.compile("|".join(map(re.escape, longest_first)))


def _is_plain(value: str) -> bool:
    return _PLAIN.fullmatch(value) is not None or os.path.exists(value)


def _replaced(text: str, names: Mapping[str, str], pattern: re.Pattern[str]) -> str:
    if not any(secret in text for secret in names):  # far quicker than the pattern, and the rule
        return text
    return pattern.sub(lambda match: names[match[0]], text)


def _walked(value: Any, names: Mapping[str, str], pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return _replaced(value, names, pattern)
    if isinstance(value, Mapping):
        return {_replaced(key, names, pattern): _walked(item, names, pattern) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_walked(item, names, pattern) for item in value]
    return value
