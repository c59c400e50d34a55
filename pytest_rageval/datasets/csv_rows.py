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
"""Largest limit that fits a 32-bit C long; a cell may contain many passages."""


def rows_of_csv(path: Path) -> list[tuple[int, list[str]]]:
    """Return the non-blank rows, each with the number of its first line, from 1.

    The delimiter is the one that occurs most in the first line: comma, semicolon or tab.

    Raises:
        DataError: the file cannot be read or is not valid CSV.
    """
    name, text = shown_path(path), read_text(path)
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    rows, line = [], 1
    old_limit = csv.field_size_limit(LONGEST_CELL)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for cells in reader:
            if any(map(str.strip, cells)):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{name}:{line}", f"the row is not valid CSV ({error}); save the table as CSV") from None
    finally:
        csv.field_size_limit(old_limit)
    return rows
