"""Parse and follow joins, ``via`` of a template: ``staff.boss -> staff.name``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_rageval.errors import did_you_mean, short_repr
from pytest_rageval.generation.tables.table import Row, Table, Value, is_missing
from pytest_rageval.generation.templates.template import Template

__all__ = ["Join", "follow", "parse_joins"]

_JOIN = re.compile(r"\s*(?P<table>[^.]+?)\s*\.\s*(?P<column>.+?)\s*->\s*(?P<to>[^.]+?)\s*\.\s*(?P<key>.+?)\s*")

Path = tuple[Row, ...]
"""The rows of a chain of joins, from the row of the question to the row of the answer."""


@dataclass(frozen=True)
class Join:
    """One join: a column of a row equals a column of another table.

    Attributes:
        column: the column of the row.
        field: the field of objects in the column; "" if the column has values.
        table: the other table.
        key: the column of the other table.
    """

    column: str
    field: str
    table: Table
    key: str

    def values(self, row: Row) -> list[Value]:
        """Return the values of a row that lead to other rows."""
        value = row.values.get(self.column)
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if self.field:
            items = [item.get(self.field) for item in items if isinstance(item, Mapping)]
        return [item for item in items if not is_missing(item)]


def parse_joins(template: Template, table: Table, tables: Mapping[str, Table]) -> tuple[Join, ...]:
    """Parse the joins of a template; () if it has none.

    Raises:
        DataError: a join is malformed, does not continue the previous join, or names an unknown table or column.
    """
    joins: list[Join] = []
    for text in template.via:
        match, section = _JOIN.fullmatch(text), template.section
        if match is None:
            raise section.error("via", f'via: {short_repr(text)} is not a join; write "staff.boss -> staff.name"')
        if match["table"] != table.name:
            problem = f"via: {short_repr(text)} starts at {match['table']!r}, wanted {table.name!r}"
            raise section.error("via", f"{problem}, the table of the row before it")
        for name in (match["to"],):
            if name not in tables:
                hint = did_you_mean(name, tables)
                raise section.error("via", f"via: no [[table]] is named {short_repr(name)}; {hint}")
        target = tables[match["to"]]
        column, field = match["column"], ""
        if column not in table.columns:
            column, _, field = column.partition(".")
        for name, owner in ((column, table), (match["key"], target)):
            if name not in owner.columns:
                hint = did_you_mean(name, owner.columns)
                raise section.error("via", f"via: {short_repr(name)} is not a column of {owner.name!r}; {hint}")
        joins.append(Join(column, field, target, match["key"]))
        table = target
    return tuple(joins)


def follow(row: Row, joins: tuple[Join, ...]) -> Iterator[Path]:
    """Yield all chains of rows along the joins; none if a value is missing or no row matches."""
    if not joins:
        yield (row,)
        return
    first, rest = joins[0], joins[1:]
    for item in first.values(row):
        for target in first.table.matching({first.key: item}):
            for path in follow(target, rest):
                yield (row, *path)
