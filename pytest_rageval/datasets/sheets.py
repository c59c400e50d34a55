"""Write and read CSV that is safe from formula injection in spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_rageval.datasets.csv_rows import rows_of_csv
from pytest_rageval.datasets.faults import one_record
from pytest_rageval.datasets.source import JsonObject, read_records, shown_path
from pytest_rageval.errors import DataError, short_repr

__all__ = ["read_sheet", "sheet_text"]

_MARK = "'"
_DANGEROUS = (*"=+-@", *"\uff1d\uff0b\uff0d\uff20", "\t", "\r", "\n", _MARK)  # also the full-width forms of East Asia
"""First characters of dangerous cells: spreadsheets would run the cell, trim it or remove the apostrophe."""


def sheet_text(columns: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> str:
    """Return a table as CSV, with an apostrophe before texts that a spreadsheet could run as a formula.

    Numbers, including negative ones, stay unchanged; None becomes an empty cell.

    Source: OWASP, "CSV Injection".
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(_mark(columns))
    writer.writerows(map(_mark, rows))
    return stream.getvalue()


def read_sheet(path: Path) -> list[tuple[int, JsonObject]]:
    """Return the rows of a sheet as records, each with the number of its first line, from 1.

    A ``.csv`` file has column names in the first line; the apostrophes that `sheet_text` adds are removed. Any other
    file is JSON Lines or one JSON array.

    Raises:
        DataError: the file cannot be read, has a duplicate column or no row, or a row has the wrong number of cells.
    """
    if path.suffix.lower() != ".csv":
        return read_records(path)
    name, lines = shown_path(path), rows_of_csv(path)
    if len(lines) < 2:
        raise DataError(f"{name}:1", "the sheet holds no row below its head; it needs at least one")
    columns = [cell.strip() for cell in lines[0][1]]
    for column in columns:
        if columns.count(column) > 1:
            raise DataError(f"{name}:1", f"the column {short_repr(column)} occurs twice, wanted it once")
    records: list[tuple[int, JsonObject]] = []
    for line, cells in lines[1:]:
        with one_record:
            if len(cells) != len(columns):
                problem = f"found {len(cells)} cells, wanted {len(columns)}, as in the first line"
                raise DataError(f"{name}:{line}", problem)
            records.append((line, dict(zip(columns, map(_unmark, cells), strict=True))))
    return records


def _mark(row: Sequence[str | float | None]) -> list[str | float | None]:
    return [_MARK + cell if isinstance(cell, str) and cell.startswith(_DANGEROUS) else cell for cell in row]


def _unmark(cell: str) -> str:
    return cell[1:] if cell.startswith(_MARK) and cell[1:].startswith(_DANGEROUS) else cell
