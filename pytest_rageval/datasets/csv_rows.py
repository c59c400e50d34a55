"""Read the rows of a CSV file with commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from pytest_rageval.datasets.source import read_text, shown_path
from pytest_rageval.errors import DataError

__all__ = ["rows_of_csv"]

DELIMITERS = ",;\t"
LONGEST_CELL = 2**31 - 1
"""The largest limit that fits a C long of 32 bits, because a cell may hold many passages."""


def rows_of_csv(path: Path) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, each with the number of its first line, from 1.

    The first line decides the delimiter: comma, semicolon or tab.

    Raises:
        DataError: the file cannot be read, or is not CSV.
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
