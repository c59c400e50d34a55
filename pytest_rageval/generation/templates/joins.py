"""The key ``via`` of a template: from a row to the rows of another table, ``staff.boss -> staff.name``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_rageval.errors import did_you_mean, short_repr
from pytest_rageval.generation.tables.table import Row, Table, is_missing
from pytest_rageval.generation.templates.template import Template

__all__ = ["Join", "follow", "parse_joins"]

_JOIN = re.compile(r"\s*(?P<table>[^.]+?)\s*\.\s*(?P<column>.+?)\s*->\s*(?P<to>[^.]+?)\s*\.\s*(?P<key>.+?)\s*")

Path = tuple[Row, ...]
"""The rows of a chain of joins, from the row of the question to that of the answer."""


@dataclass(frozen=True)
class Join:
    """One step: the value of a column is the value of a column of another table.

    Attributes:
        column: the column of the row.
        table: the other table.
        key: its column.
    """

    column: str
    table: Table
    key: str


def parse_joins(template: Template, table: Table, tables: Mapping[str, Table]) -> tuple[Join, ...]:
    """Return the joins of a template; empty if it has none.

    Raises:
        DataError: a join is malformed, does not continue the one before, or names an unknown table or column.
    """
    joins: list[Join] = []
    for written in template.via:
        match, section = _JOIN.fullmatch(written), template.section
        if match is None:
            raise section.error("via", f'via: {short_repr(written)} is no join; write "staff.boss -> staff.name"')
        if match["table"] != table.name:
            problem = f"via: {short_repr(written)} starts at {match['table']!r}, wanted {table.name!r}"
            raise section.error("via", f"{problem}, the table of the row before it")
        for name in (match["to"],):
            if name not in tables:
                hint = did_you_mean(name, tables)
                raise section.error("via", f"via: no [[table]] is named {short_repr(name)}; {hint}")
        target = tables[match["to"]]
        for column, owner in ((match["column"], table), (match["key"], target)):
            if column not in owner.columns:
                hint = did_you_mean(column, owner.columns)
                raise section.error("via", f"via: {short_repr(column)} is no column of {owner.name!r}; {hint}")
        joins.append(Join(match["column"], target, match["key"]))
        table = target
    return tuple(joins)


def follow(row: Row, joins: tuple[Join, ...]) -> Iterator[Path]:
    """Yield every chain of rows from a row along the joins; none if a value is missing or no row matches."""
    if not joins:
        yield (row,)
        return
    first, rest = joins[0], joins[1:]
    value = row.values.get(first.column)
    if is_missing(value):
        return
    for item in value if isinstance(value, (list, tuple)) else [value]:
        for target in first.table.matching({first.key: item}):
            for path in follow(target, rest):
                yield (row, *path)
