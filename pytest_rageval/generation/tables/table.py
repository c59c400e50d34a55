"""A table: rows of values, each also a passage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.case import Passage

__all__ = ["Row", "Table", "Value", "is_missing", "value_text"]

Value = object
"""A text, a number, true, false, or a list of those or of objects. A missing value is None, "" or an empty list."""


@dataclass(frozen=True, eq=False)
class Row:
    """One row.

    Attributes:
        id: the id of its passage, ``table:key``.
        values: column -> value; an absent column is a missing value.
        passage: the row as a passage; its metadata has the topic if the table has one.
        topic: the path of its topic, such as ``Transit/Ferries``; "" if unknown.
        where: ``file:line``, or ``file: row N``.
    """

    id: str
    values: Mapping[str, Value]
    passage: Passage
    topic: str
    where: str


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a plan, or of a world.

    Attributes:
        name: its name in templates.
        columns: the names of its columns, in order.
        key: the column that identifies a row.
        rows: the rows, in the order of the file.
        shown: the columns that a row's passage shows.
        file: the file in the output folder to write the rows to; "" if they already are in a file.
    """

    name: str
    columns: tuple[str, ...]
    key: str
    rows: tuple[Row, ...]
    shown: tuple[str, ...] = ()
    file: str = ""

    @cached_property
    def _indexes(self) -> dict[tuple[str, ...], dict[tuple[str, ...], list[Row]]]:
        return {}

    def matching(self, values: Mapping[str, Value]) -> list[Row]:
        """Return the rows with these values, compared as folded texts; a row without one of them does not match."""
        columns = tuple(sorted(values))
        if columns not in self._indexes:
            index: dict[tuple[str, ...], list[Row]] = {}
            for row in self.rows:
                if not any(is_missing(row.values.get(column)) for column in columns):
                    index.setdefault(_folded(row.values, columns), []).append(row)
            self._indexes[columns] = index
        return self._indexes[columns].get(_folded(values, columns), [])


def is_missing(value: Value) -> bool:
    """Return whether a value is missing: None, a blank text, or an empty list."""
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def value_text(value: Value) -> str:
    """Return a value as text: a list with commas and without missing items, objects as JSON, booleans as ``true``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(value_text(item) for item in value if not is_missing(item))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value).strip()


def _folded(values: Mapping[str, Value], columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(fold(value_text(values[column])) for column in columns)
