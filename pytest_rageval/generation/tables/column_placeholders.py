"""Replace ``{column}`` placeholders in a text by the values of a row."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_rageval.generation.tables.table import Value, is_missing, value_text

__all__ = ["PLACEHOLDER", "columns_in", "fill_columns"]

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def columns_in(template: str) -> tuple[str, ...]:
    """Return the column names in braces, without duplicates, in order."""
    return tuple(dict.fromkeys(name.strip() for name in PLACEHOLDER.findall(template)))


def fill_columns(template: str, values: Mapping[str, Value]) -> str | None:
    """Replace each placeholder by the value of its column; return None if a value is missing."""
    if any(is_missing(values.get(name)) for name in columns_in(template)):
        return None
    return PLACEHOLDER.sub(lambda match: value_text(values[match[1].strip()]), template)
