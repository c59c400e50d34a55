"""Load the tables of a plan: read rows, give each an id, and write it as a passage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count

from pytest_rageval.errors import DataError, did_you_mean, short_repr
from pytest_rageval.generation.plan import Plan
from pytest_rageval.generation.tables.column_placeholders import columns_in, fill_columns
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
    "world": "pytest_rageval.generation.scholar.tables:tables_of_world",
}
"""TOML table that gives tables of rows -> ``"module:function"``, a `TableSource`."""


def load_tables(plan: Plan, warnings: list[str]) -> dict[str, Table]:
    """Load the tables of a plan with all rows, by name.

    Raises:
        DataError: a file cannot be read, a column is unknown, or two tables have the same name.
    """
    sources: Registry[TableSource] = Registry("source of tables", SOURCES)
    tables: dict[str, Table] = {}
    for name in SOURCES:
        for table in sources.get(name)(plan, warnings):
            if table.name in tables:
                raise DataError(plan.file_name, f"two tables are named {table.name!r}; rename one")
            tables[table.name] = table
    return tables


def tables_of_files(plan: Plan, warnings: list[str]) -> Iterable[Table]:
    """Yield each ``[[table]]`` of a plan."""
    for settings in table_settings(plan):
        rows = select_rows(settings.path, settings.query) if settings.query else read_rows(settings.path)
        yield _table(settings, list(rows), warnings)


def _table(settings: TableSettings, rows: Sequence[RawRow], warnings: list[str]) -> Table:
    section, columns = settings.section, tuple(dict.fromkeys(column for _, values in rows for column in values))
    if not rows:
        raise section.error("path", f"the table {settings.name!r} has no row; it needs at least one")
    empty = [column for column in columns if all(is_missing(values.get(column)) for _, values in rows)]
    _check_columns(settings, columns, empty)
    key = settings.key or ("id" if "id" in columns else columns[0])
    table = make_table(settings.name, rows, key, settings.passage, settings.topic)
    notes = [f"the column {short_repr(column)} of {settings.name!r} is empty" for column in empty]
    key_texts = [value_text(row.values[key]) for row in table.rows]
    repeated = len(key_texts) - len(set(key_texts))
    if repeated:
        notes.append(f"{settings.name!r} repeats a key in {_rows(repeated)}; repeated keys get #2 and so on")
    if len(table.rows) < len(rows):
        notes.append(f"{_rows(len(rows) - len(table.rows))} of {settings.name!r} without the key {key!r} left out")
    n_incomplete = (
        sum(fill_columns(settings.passage, row.values) is None for row in table.rows) if settings.passage else 0
    )
    if n_incomplete:
        notes.append(f"{_rows(n_incomplete)} of {settings.name!r} without a value of passage, written as column: value")
    warnings += [f"{section.where}: {note}" for note in notes]
    return table


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _check_columns(settings: TableSettings, columns: Sequence[str], empty: Sequence[str]) -> None:
    """Raise an error for a key or a placeholder that names an unknown or empty column."""
    for name, text in (("passage", settings.passage), ("topic", settings.topic)):
        for column in columns_in(text):
            place = f"{name}: {{{column}}}"
            if column not in columns:
                hint = did_you_mean(column, columns)
                raise settings.section.error(name, f"{place} is not a column of {settings.name!r}; {hint}")
            if column in empty:
                raise settings.section.error(name, f"{place}: this column of {settings.name!r} is empty; leave it out")
    if settings.key and settings.key not in columns:
        hint = did_you_mean(settings.key, columns)
        problem = f"key: {short_repr(settings.key)} is not a column of {settings.name!r}; {hint}"
        raise settings.section.error("key", problem)


def make_table(name: str, rows: Iterable[RawRow], key: str, passage: str = "", topic: str = "") -> Table:
    """Build a table from raw rows, without rows that lack the key.

    Args:
        name: the table's name.
        rows: ``file:line`` and values of each row.
        key: the column with the key of a row. The second row with the same key is ``table:key#2``.
        passage: the template of a row's text; "" for ``column: value`` of all its values, which is also the text of a
            row that lacks a value of the template.
        topic: the template of a row's topic; "" for the table's name. A row that lacks a value of it has no topic.
    """
    table_rows, ids, columns = [], set[str](), dict[str, None]()
    for where, values in rows:
        columns.update(dict.fromkeys(values))
        if is_missing(values.get(key)):
            continue
        key_text = value_text(values[key])
        row_id = _free_id(f"{name}:{key_text}", ids)
        text = (fill_columns(passage, values) if passage else None) or _column_lines(values)
        row_topic = fill_columns(topic, values) if topic else name
        title = key_text if key_text in text else ""  # a number that the text does not mention is no title
        table_rows.append(Row(row_id, values, Passage(row_id, text, title=title, page=row_id), row_topic or "", where))
    return Table(name, tuple(columns), key, tuple(table_rows), columns_in(passage) if passage else tuple(columns))


def _free_id(name: str, ids: set[str]) -> str:
    """Return an unused id of a row, with #2, #3 and so on if needed, and add it to ``ids``."""
    numbered = chain([name], (f"{name}#{number}" for number in count(2)))
    unused_id = next(each for each in numbered if each not in ids)
    ids.add(unused_id)
    return unused_id


def _column_lines(values: Mapping[str, Value]) -> str:
    """Return all values of a row as lines ``column: value``."""
    return "\n".join(f"{name}: {value_text(value)}" for name, value in values.items() if not is_missing(value))
