"""Read the rows of a spreadsheet (.xlsx), with cell texts as displayed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

from pytest_rageval.datasets.imports.cells import plain
from pytest_rageval.datasets.imports.import_result import ImportResult
from pytest_rageval.datasets.source import shown_path
from pytest_rageval.errors import DataError, MissingDependencyError, short_repr
from pytest_rageval.folders import regular_path
from pytest_rageval.model.facets import facet_text

__all__ = ["read_workbook"]

MAX_CELLS = 2_000_000
"""Largest number of cells of a sheet that is read; this many need about 500 MB of memory."""


def read_workbook(path: Path, result: ImportResult) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of the first sheet with their numbers, from 1; add a note for other sheets with data.

    Cells become text as displayed: 4, not 4.0; 5%, not 0.05; a date as 2026-01-31; a formula as its last value.

    Raises:
        DataError: the file is not a readable spreadsheet.
        MissingDependencyError: openpyxl is not installed.
    """
    try:
        import openpyxl
    except ImportError:
        raise MissingDependencyError("a spreadsheet", "spreadsheet") from None
    name = shown_path(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns about styles, which do not matter here
        try:
            with regular_path(path).open("rb") as stream:
                book = openpyxl.load_workbook(stream, data_only=True)
        except OSError as error:
            raise DataError(name, f"cannot be read: {error.strerror or error}") from None
        except Exception as error:  # openpyxl, zipfile and the XML parser raise many kinds
            problem = f"openpyxl cannot read the spreadsheet ({type(error).__name__}: {error}); save it as .xlsx"
            raise DataError(name, problem) from None
    if not book.worksheets:
        raise DataError(name, "the spreadsheet has no sheet of cells")
    first, *others = book.worksheets
    if (size := _size(first)) > MAX_CELLS:
        corner = first.dimensions.rpartition(":")[2]
        problem = f"the sheet {short_repr(first.title)} reaches to {corner}, {size:,} cells"
        raise DataError(name, f"{problem}, wanted at most {MAX_CELLS:,}; delete the far cells, or save it as CSV")
    for sheet in others:
        if _size(sheet) > MAX_CELLS or any(cell.value is not None for row in sheet.iter_rows() for cell in row):
            result.notes.append(f"{name}: skipped the sheet {short_repr(sheet.title)}; only the first sheet is read.")
    for number, row in enumerate(first.iter_rows(), 1):
        yield number, [_text(cell) for cell in row]


def _size(sheet: Any) -> int:
    """Return the number of cells of a sheet, including empty ones, because reading creates them all."""
    return int(sheet.max_row * sheet.max_column)


def _text(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and "%" in (cell.number_format or ""):
        return f"{plain(round(float(value) * 100, 10))}%"
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    return facet_text(value) if isinstance(value, bool) else str(plain(value))
