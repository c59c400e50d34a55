"""Parse the options of ini lines ``name: component; option=value``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_rageval.errors import SettingError, short_repr

__all__ = ["NAME", "options_in"]

NAME = re.compile(r"[A-Za-z0-9_][\w.+-]*", re.ASCII)
"""The form of the name before the colon."""


def options_in(texts: Iterable[str], where: str) -> dict[str, str]:
    """Parse texts ``option=value`` into option -> value.

    Args:
        texts: the parts of a line after the component.
        where: the start of error messages.

    Raises:
        SettingError: an option is malformed or repeated.
    """
    options: dict[str, str] = {}
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        if not key or not value:
            raise SettingError(f"{where} has the option {short_repr(text)}; write option=value")
        if key in options:
            raise SettingError(f"{where} gives {short_repr(key)} twice; give it once")
        options[key] = value
    return options
