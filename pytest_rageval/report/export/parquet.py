"""Write the table of outcomes as Parquet, with typed columns."""

from __future__ import annotations

from pathlib import Path

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.report.export.outcome_table import OutcomeTable

__all__ = ["write_parquet"]


def write_parquet(table: OutcomeTable, path: Path) -> None:
    """Write a table of outcomes to ``path``; unknown values are null.

    Raises:
        MissingDependencyError: pyarrow is not installed, or not for the installed numpy.
        OSError: the file cannot be written.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError("--parquet", "parquet") from error

    types = {"text": pyarrow.string(), "float": pyarrow.float64(), "int": pyarrow.int64()}
    arrays = [
        pyarrow.array([row[at] for row in table.rows], types[column.kind]) for at, column in enumerate(table.columns)
    ]
    with path.open("wb") as stream:
        parquet.write_table(pyarrow.Table.from_arrays(arrays, [column.name for column in table.columns]), stream)
