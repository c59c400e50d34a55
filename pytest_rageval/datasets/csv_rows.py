"""The rows of a CSV file, as spreadsheets of several countries write it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from pytest_rageval.datasets.source import read_text, shown_path
from pytest_rageval.errors import DataError

__all__ = ["rows_of_csv"]

DELIMITERS = ",;\t"
LONGEST_CELL = 2**31 - 1
"""A cell may hold many passages; this is the most that fits where C's long has 32 bits."""


def rows_of_csv(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, with the line (from 1) that each begins in; commas, semicolons or tabs part.

    Raises:
        DataError: the file cannot be read, or is no CSV.
    """
    name, text = shown_path(path), read_text(path)
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    rows, line = [], 1
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for cells in reader:
            if any(map(str.strip, cells)):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{name}:{line}", f"the row is no CSV ({error}); save the table as CSV") from None
    finally:
        csv.field_size_limit(before)
    return rows
