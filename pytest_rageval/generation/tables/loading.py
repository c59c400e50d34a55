"""Make tables of the plan: read the rows, name each, and write it as a passage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from pytest_rageval.errors import DataError, did_you_mean, short_repr
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.filling import columns_in, fill_columns
from pytest_rageval.generation.tables.rows import RawRow, read_rows, select_rows
from pytest_rageval.generation.tables.table import Row, Table, Value, is_missing, value_text
from pytest_rageval.generation.tables.table_settings import TableSettings, table_settings
from pytest_rageval.model.case import Passage
from pytest_rageval.registry import Registry

__all__ = ["SOURCES", "TableSource", "load_tables", "make_table", "tables_of_files"]

TableSource = Callable[[Plan, list[str]], Iterable[Table]]
"""Yields tables of a plan; appends warnings to the list."""

SOURCES: dict[str, str] = {
    "table": "pytest_rageval.generation.tables.loading:tables_of_files",
}
"""Table of the plan that gives tables of rows -> ``"module:function"``, a `TableSource`."""


def load_tables(plan: Plan, warnings: list[str]) -> dict[str, Table]:
    """Return the tables of a plan by name, with their rows in memory.

    Raises:
        DataError: a file cannot be read, a column is unknown, or two tables have one name.
    """
    sources: Registry[TableSource] = Registry("source of tables", SOURCES)
    tables: dict[str, Table] = {}
    for name in SOURCES:
        for table in sources.get(name)(plan, warnings):
            if table.name in tables:
                raise DataError(plan.shown, f"two tables are named {table.name!r}; rename one")
            tables[table.name] = table
    return tables


def tables_of_files(plan: Plan, warnings: list[str]) -> Iterable[Table]:
    """Yield the ``[[table]]`` of a plan."""
    for settings in table_settings(plan):
        rows = select_rows(settings.path, settings.query) if settings.query else read_rows(settings.path)
        yield _table(settings, list(rows), warnings)


def _table(settings: TableSettings, rows: Sequence[RawRow], warnings: list[str]) -> Table:
    section, columns = settings.section, tuple(dict.fromkeys(column for _, values in rows for column in values))
    if not rows:
        raise section.error("path", f"the table {settings.name!r} has no row; it needs at least one")
    _check_columns(settings, columns)
    empty = [column for column in columns if all(is_missing(values.get(column)) for _, values in rows)]
    warnings += [f"{section.where}: the column {short_repr(column)} of {settings.name!r} is empty" for column in empty]
    key = settings.key or ("id" if "id" in columns else columns[0])
    table = make_table(settings.name, rows, key, settings.passage, settings.topic)
    keyed = Counter(value_text(values.get(key)) for _, values in rows)
    repeated = sum(count - 1 for value, count in keyed.items() if value)
    if repeated:
        rows_of = "1 row" if repeated == 1 else f"{repeated} rows"
        what = f"{settings.name!r} repeats a key in {rows_of}; repeated keys get #2 and so on"
        warnings.append(f"{section.where}: {what}")
    if len(table.rows) < len(rows):
        without = len(rows) - len(table.rows)
        what = f"have no value of the key {short_repr(key)}"
        warnings.append(f"{section.where}: {without} of {len(rows)} rows of {settings.name!r} {what}; left out")
    return table


def _check_columns(settings: TableSettings, columns: Sequence[str]) -> None:
    """Refuse a key or a placeholder that names no column."""
    for name, text in (("passage", settings.passage), ("topic", settings.topic)):
        for column in columns_in(text):
            if column not in columns:
                hint = did_you_mean(column, columns)
                raise settings.section.error(name, f"{name}: {{{column}}} is no column of {settings.name!r}; {hint}")
    if settings.key and settings.key not in columns:
        hint = did_you_mean(settings.key, columns)
        problem = f"key: {short_repr(settings.key)} is no column of {settings.name!r}; {hint}"
        raise settings.section.error("key", problem)


def make_table(name: str, rows: Iterable[RawRow], key: str, passage: str = "", topic: str = "") -> Table:
    """Return a table of raw rows; a row without its key is left out.

    Args:
        name: the table's name.
        rows: ``file:line`` and values of each row.
        key: the column that names a row. The second row of a key is ``table:key#2``.
        passage: the template of a row's text; "" for ``column: value`` of all its values. A row that lacks a value of
            the template is written so, too.
        topic: the template of a row's topic; "" for the table's name. A row that lacks a value of it has no topic.
    """
    made, seen, columns = [], Counter[str](), dict[str, None]()
    for where, values in rows:
        columns.update(dict.fromkeys(values))
        if is_missing(values.get(key)):
            continue
        keyed = value_text(values[key])
        seen[keyed] += 1
        row_id = f"{name}:{keyed}" + (f"#{seen[keyed]}" if seen[keyed] > 1 else "")
        text = (fill_columns(passage, values) if passage else None) or _listed(values)
        row_topic = fill_columns(topic, values) if topic else name
        title = keyed if keyed in text else ""  # a number that the text does not mention is no title
        made.append(Row(row_id, values, Passage(row_id, text, title=title, page=row_id), row_topic or "", where))
    return Table(name, tuple(columns), key, tuple(made), columns_in(passage) if passage else tuple(columns))


def _listed(values: Mapping[str, Value]) -> str:
    """Return all values of a row as ``column: value``, a line each."""
    return "\n".join(f"{name}: {value_text(value)}" for name, value in values.items() if not is_missing(value))
