"""Read the rows of CSV, JSON Lines and SQLite files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from pytest_rageval.datasets.csv_rows import rows_of_csv
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import DataError, ascii_safe, short_repr
from pytest_rageval.generation.tables.table import Value

__all__ = ["ENDINGS", "RawRow", "read_rows", "select_rows"]

RawRow = tuple[str, Mapping[str, Value]]
"""``file:line``, and column -> value."""

_READING = frozenset({
    sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_SELECT,
})  # fmt: skip
"""The allowed actions of a query; others, such as ATTACH, could create or change a file."""


def read_rows(path: Path) -> Iterator[RawRow]:
    """Yield the rows of a file; the file extension decides the format.

    Raises:
        DataError: the file cannot be read, or its extension is unknown.
    """
    reader = ENDINGS.get(path.suffix.lower())
    if reader is None:
        endings = ", ".join(ENDINGS)
        raise DataError(shown_path(path), f"is not a table; name a file ending in {endings}, or sqlite:FILE:SELECT ...")
    return reader(path)


def _csv(path: Path) -> Iterator[RawRow]:
    name, rows = shown_path(path), rows_of_csv(path)
    if not rows:
        raise DataError(f"{name}:1", "the file holds no row; its first row has to name the columns")
    (head, header), *data_rows = rows
    columns = [cell.strip() for cell in header]
    _check_columns(f"{name}:{head}", columns)
    for line, cells in data_rows:
        if len(cells) > len(columns):
            problem = f"found {len(cells)} cells, wanted at most {len(columns)}, as in the header"
            raise DataError(f"{name}:{line}", problem)
        yield f"{name}:{line}", {column: cell.strip() for column, cell in zip(columns, cells, strict=False)}


def _jsonl(path: Path) -> Iterator[RawRow]:
    name = shown_path(path)
    for line, values in read_records(path):
        yield f"{name}:{line}", values


def select_rows(path: Path, query: str) -> Iterator[RawRow]:
    """Yield the rows that a query selects; the database is read-only, and the query may only read.

    Raises:
        DataError: the file is not an SQLite database, or the query fails.
    """
    name = shown_path(path)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
            cursor = database.execute(query)
            if cursor.description is None:
                raise DataError(name, "the query selects nothing; write a SELECT")
            columns = [column[0] for column in cursor.description]
            _check_columns(name, columns)
            for number, cells in enumerate(cursor, 1):
                yield f"{name}: row {number}", _row(f"{name}: row {number}", columns, cells)
    except (sqlite3.Error, sqlite3.Warning) as error:
        problem = f"the query cannot be run ({ascii_safe(str(error))}); write one SELECT over a database of SQLite"
        raise DataError(name, problem) from None


def _row(where: str, columns: Sequence[str], cells: Sequence[Value]) -> Mapping[str, Value]:
    blob = next((column for column, cell in zip(columns, cells, strict=True) if isinstance(cell, bytes)), None)
    if blob is not None:
        raise DataError(where, f"{short_repr(blob)} holds bytes, wanted a text or a number; leave out the column")
    return dict(zip(columns, cells, strict=True))


def _check_columns(where: str, columns: Sequence[str]) -> None:
    """Raise an error for columns without a name, and for duplicate names."""
    invalid_name = next((name for name in columns if not name or columns.count(name) > 1), None)
    if invalid_name is not None:
        problem = f"two columns are named {short_repr(invalid_name)}" if invalid_name else "a column has no name"
        raise DataError(where, f"{problem}; name each column once")


ENDINGS: dict[str, Callable[[Path], Iterator[RawRow]]] = {
    ".csv": _csv,
    ".json": _jsonl,
    ".jsonl": _jsonl,
    ".tsv": _csv,
}
"""File extension -> reader."""
