"""Parse and evaluate placeholders of templates: ``{city}``, ``{works|max(year).title}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from pytest_rageval.errors import DataError, did_you_mean, short_repr
from pytest_rageval.generation.tables.column_placeholders import PLACEHOLDER
from pytest_rageval.generation.tables.table import Row, Table, Value, is_missing, value_text
from pytest_rageval.generation.tables.values import comparable, is_ordered
from pytest_rageval.generation.templates.template import Template

__all__ = ["Expression", "PlaceholderValue", "expressions_in", "parse_expression"]

OTHER = "other."
_GRAMMAR = "write {column}, {column.field}, {column|max(field).field}, |min, |sum(field) or |count"
_AGGREGATE = re.compile(r"(max|min|sum)\(\s*([^()]+?)\s*\)(?:\.(.+))?|(count)")


@dataclass(frozen=True, slots=True)
class PlaceholderValue:
    """The value of a placeholder for one row.

    Attributes:
        texts: its values as texts; several for a list.
        rows: the rows of other tables that it comes from.
        tied: whether several different records have the largest or smallest value.
    """

    texts: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    tied: bool = False


@dataclass(frozen=True)
class Expression:
    """A parsed placeholder.

    Attributes:
        text: the placeholder without braces.
        other: whether it refers to the second row of a pair.
        column: the column.
        operation: how to aggregate the records of the column; "" for the value itself, or a field of each record.
        by: the field to compare or add.
        field: the field to return; "" for the value itself.
        linked: the table whose keys are in the column; None if the column has values or objects.
    """

    text: str
    other: bool
    column: str
    operation: Literal["", "max", "min", "sum", "count"] = ""
    by: str = ""
    field: str = ""
    linked: Table | None = None

    def find(self, row: Row) -> PlaceholderValue | None:
        """Return the value for a row; None if it is missing.

        Raises:
            DataError: an id of the column is unknown in its table, or a value to add or compare has the wrong type.
        """
        value = row.values.get(self.column)
        if is_missing(value):
            return PlaceholderValue(("0",)) if self.operation == "count" and isinstance(value, list) else None
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if not self.operation and not self.field:
            return self._plain(row, items)
        if self.operation == "count":
            return PlaceholderValue((str(len(items)),))
        records = [self._record(row, item) for item in items]
        if self.operation == "sum":
            numbers = [comparable(values.get(self.by)) for values, _ in records]
            if any(kind != "number" for kind, _ in numbers):
                raise DataError(row.where, f"{{{self.text}}}: {self.by!r} of a record is not a number; correct it")
            total = sum(number for _, number in numbers if not isinstance(number, str))
            return PlaceholderValue((value_text(int(total) if total == int(total) else float(total)),), _rows(records))
        if self.operation:
            return self._extreme(row, records)
        present = [record for record in records if not is_missing(record[0].get(self.field))]
        texts = tuple(dict.fromkeys(value_text(values[self.field]) for values, _ in present))
        return PlaceholderValue(texts, _rows(present)) if texts else None

    def _plain(self, row: Row, items: list[Value]) -> PlaceholderValue:
        """Return the values of the column itself."""
        if any(isinstance(item, dict) for item in items):
            problem = f"{{{self.text}}}: the column holds objects; name a field, as {{{self.column}.name}}"
            raise DataError(row.where, problem)
        return PlaceholderValue(tuple(dict.fromkeys(value_text(item) for item in items if not is_missing(item))))

    def _record(self, row: Row, item: Value) -> tuple[Mapping[str, Value], Row | None]:
        """Return the values of an item: an object, or the row that a key refers to."""
        if isinstance(item, dict):
            return cast("Mapping[str, Value]", item), None
        if self.linked is None:
            problem = f"{{{self.text}}}: found {short_repr(item)}, wanted an object, or a key of a table"
            raise DataError(row.where, f"{problem} {self.column!r}; add the table, or write {{{self.column}}}")
        rows = self.linked.matching({self.linked.key: item})
        if not rows:
            problem = f"{self.column}: no row of {self.linked.name!r} has the {self.linked.key} {short_repr(item)}"
            raise DataError(row.where, f"{problem}; correct the id or add the row")
        return rows[0].values, rows[0]

    def _extreme(self, row: Row, records: list[tuple[Mapping[str, Value], Row | None]]) -> PlaceholderValue | None:
        """Return the field of the record with the largest or smallest value of ``by``."""
        present = [(comparable(each[0][self.by]), each) for each in records if not is_missing(each[0].get(self.by))]
        if not present:
            return None
        values = [value for value, _ in present]
        if not is_ordered(values):
            raise DataError(row.where, f"{{{self.text}}}: values of {self.by!r} are neither numbers nor dates")
        best = max(values) if self.operation == "max" else min(values)
        best_records = [each for value, each in present if value == best and not is_missing(each[0].get(self.field))]
        texts = tuple(dict.fromkeys(value_text(values[self.field]) for values, _ in best_records))
        return PlaceholderValue(texts, _rows(best_records[:1]), tied=len(texts) > 1) if texts else None


def _rows(records: list[tuple[Mapping[str, Value], Row | None]]) -> tuple[Row, ...]:
    return tuple(dict.fromkeys(row for _, row in records if row is not None))


def expressions_in(
    text: str, template: Template, key: str, table: Table, tables: Mapping[str, Table]
) -> tuple[Expression, ...]:
    """Parse the placeholders of a text, in order.

    Raises:
        DataError: a placeholder is malformed, or names an unknown column; with the line of ``key`` in the plan.
    """
    return tuple(parse_expression(text, template, key, table, tables) for text in PLACEHOLDER.findall(text))


def parse_expression(text: str, template: Template, key: str, table: Table, tables: Mapping[str, Table]) -> Expression:
    """Parse one placeholder, without its braces."""
    name, other = text.strip(), False
    if name not in table.columns and name.startswith(OTHER):
        name, other = name.removeprefix(OTHER), True
    if name in table.columns:
        if all(is_missing(row.values.get(name)) for row in table.rows):
            raise template.section.error(key, f"{key}: {{{text}}}: this column of {table.name!r} is empty; fill it")
        return Expression(text, other, name)
    column, pipe, rest = (part.strip() for part in name.partition("|"))
    if not pipe:
        column, _, rest = (part.strip() for part in name.partition("."))
    if column not in table.columns:
        problem = f"{key}: {{{text}}} is not a column of {table.name!r}"
        raise template.section.error(key, f"{problem}; {did_you_mean(column, table.columns)}")
    linked = tables.get(column)
    match = _AGGREGATE.fullmatch(rest) if pipe else None
    if (pipe and match is None) or not rest:
        raise template.section.error(key, f"{key}: {{{text}}} cannot be read; {_GRAMMAR}")
    operation, by, field = ((match[1] or match[4]), match[2] or "", match[3] or "") if match else ("", "", rest)
    field = field or (by if operation in ("max", "min") else "")
    for each in (by, field):
        if linked is not None and each and each not in linked.columns:
            problem = f"{key}: {{{text}}}: {each!r} is not a column of {linked.name!r}"
            raise template.section.error(key, f"{problem}; {did_you_mean(each, linked.columns)}")
    kind = cast("Literal['', 'max', 'min', 'sum', 'count']", operation)
    return Expression(text, other, column, kind, by, field, linked)
