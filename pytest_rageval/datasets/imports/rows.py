"""Read the rows of a file (JSON, JSON Lines, CSV or a spreadsheet) with their line numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from pytest_rageval.datasets.csv_rows import rows_of_csv
from pytest_rageval.datasets.imports.import_result import ImportResult
from pytest_rageval.datasets.source import JsonObject, read_line, read_records, read_text, shown_path
from pytest_rageval.errors import DataError, short_repr

__all__ = ["TABLES", "files_of", "read_log", "read_rows"]

TABLES = (".csv", ".tsv", ".xlsx")
"""File name suffixes of tables with a header."""

Table = Iterator[tuple[int, list[str]]]


def files_of(paths: Iterable[Path], pattern: str) -> list[Path]:
    """Return the files, and the files below the folders that match ``pattern``, sorted by name.

    Raises:
        DataError: a folder has no matching file.
    """
    files: list[Path] = []
    for path in paths:
        below = sorted(path.rglob(pattern)) if path.is_dir() else [path]
        if not below:
            raise DataError(shown_path(path), f"holds no file {pattern}; name the files, or the folder with the files")
        files += below
    return files


def read_rows(path: Path, result: ImportResult) -> Iterator[tuple[str, JsonObject]]:
    """Yield ``file:line`` and the values of every row, and count it; record an unreadable row as skipped.

    A file with a suffix in `TABLES` is a table with a header; any other file is one JSON array of objects,
    one object of columns, or JSON Lines. The cells of a table are strings; empty cells are omitted.

    Raises:
        DataError: the file as a whole cannot be read.
    """
    kind = path.suffix.lower()
    if kind == ".xlsx":
        from pytest_rageval.datasets.imports.spreadsheet import read_workbook

        rows = _below_header(shown_path(path), read_workbook(path, result), result)
    elif kind in TABLES:
        rows = _below_header(shown_path(path), iter(rows_of_csv(path)), result)
    else:
        rows = _json(path, result)
    for where, values in rows:
        result.rows += 1
        yield where, values


def read_log(path: Path, result: ImportResult) -> Iterator[tuple[str, JsonObject]]:
    """Yield ``file:line`` and the values of every row of JSON Lines or one JSON array, as `read_rows` does."""
    for where, values in _records(path, read_text(path), result):
        result.rows += 1
        yield where, values


def _json(path: Path, result: ImportResult) -> Iterator[tuple[str, JsonObject]]:
    name, text = shown_path(path), read_text(path)
    columns = [] if text.lstrip().startswith("[") else _columns(text, name)
    if columns:
        yield from ((f"{name}: row {number}", values) for number, values in enumerate(columns, 1))
    else:
        yield from _records(path, text, result)


def _records(path: Path, text: str, result: ImportResult) -> Iterator[tuple[str, JsonObject]]:
    name = shown_path(path)
    if text.lstrip().startswith("["):
        yield from ((f"{name}:{line}", values) for line, values in read_records(path))
        return
    for line, record in enumerate(text.split("\n"), 1):
        try:
            values_of_line = read_line(record, name, line)
        except DataError as error:
            result.rows += 1
            result.skip(error.where, error.problem)
            continue
        if values_of_line is not None:
            yield f"{name}:{line}", values_of_line


def _columns(text: str, name: str) -> list[JsonObject]:
    """Return the rows of a file that is one object; empty if it is not.

    The object holds columns (each a list, or an object by row), or one list of rows, or it is one row.
    """
    try:
        columns = read_line(text.replace("\n", " "), name, 1) or {}
    except DataError:
        return []  # JSON Lines, or reading it line by line reports each problem
    lists = [list(c.values()) if isinstance(c, dict) else c for c in columns.values()]
    cells = [column for column in lists if isinstance(column, list)]
    if not cells or len(cells) < len(lists) or len({len(column) for column in cells}) > 1:
        return [columns] if columns else []
    if len(cells) == 1 and all(isinstance(row, dict) for row in cells[0]):
        return [cast("JsonObject", row) for row in cells[0]]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def _below_header(name: str, table: Table, result: ImportResult) -> Iterator[tuple[str, JsonObject]]:
    rows = ((line, [cell.strip() for cell in cells]) for line, cells in table if any(map(str.strip, cells)))
    header_line, header = next(rows, (1, []))
    if not header:
        raise DataError(f"{name}:1", "the file holds no row; its first row has to name the columns")
    duplicate = next((title for title in header if title and header.count(title) > 1), None)
    if duplicate is not None:
        raise DataError(f"{name}:{header_line}", f"two columns are named {short_repr(duplicate)}; rename or remove one")
    for line, cells in rows:
        if any(cells[len(header) :]):
            result.rows += 1
            result.skip(f"{name}:{line}", f"found {len(cells)} cells, wanted at most {len(header)}, as in the header")
            continue
        pairs = [(title, cell) for title, cell in zip(header, cells, strict=False) if cell]
        if any(not title for title, _ in pairs):
            result.fields["a column without a name"] += 1
        yield f"{name}:{line}", {title: cell for title, cell in pairs if title}
