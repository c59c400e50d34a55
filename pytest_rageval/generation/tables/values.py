"""Compare values of cells as numbers, dates or texts."""

from __future__ import annotations

import re
from fractions import Fraction

from pytest_rageval.generation.tables.table import Value, value_text
from pytest_rageval.metrics.shared.matching import fold

__all__ = ["Comparable", "comparable", "is_ordered"]

Comparable = tuple[str, Fraction | str]
"""The kind (``number``, ``date`` or ``text``) and the value. Only values of the same kind have an order."""

_NUMBER = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?")
_DATE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")


def comparable(value: Value) -> Comparable:
    """Convert a value for comparison: 2011 and "1,577" are numbers, 2011-05-06 is a date, others are texts."""
    text = value_text(value)
    if not isinstance(value, bool):
        if _NUMBER.fullmatch(text):
            return "number", Fraction(text.replace(",", ""))
        date = _DATE.fullmatch(text)
        if date:
            return "date", f"{date[1]}-{int(date[2]):02}-{int(date[3]):02}"
    return "text", fold(text)


def is_ordered(values: list[Comparable]) -> bool:
    """Return whether values have an order: all are numbers, or all are dates."""
    kinds = {kind for kind, _ in values}
    return len(kinds) == 1 and "text" not in kinds
