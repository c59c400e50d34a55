"""Files of rows in ``cases/``: Parquet or, without pyarrow, compressed JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from pytest_rageval.errors import MissingDependencyError
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.scoring.rows import FACET, REASON, SCORE, columns_of, unpack, unpack_rows

__all__ = ["JsonParts", "ParquetParts", "format_of", "read_part"]

PARQUET, JSON_LINES = ".parquet", ".jsonl.gz"


@dataclass(frozen=True, slots=True)
class JsonParts:
    """Writes packed rows without a change."""

    suffix: str = JSON_LINES

    def part(self, packed: bytes) -> bytes:
        """Return the content of the part with packed rows."""
        return packed


@dataclass(frozen=True)
class ParquetParts:
    """Writes packed rows as Parquet; all parts have the same columns.

    Attributes:
        facets: the facets of any row, sorted.
        metrics: the metrics of any row.
    """

    facets: tuple[str, ...]
    metrics: tuple[str, ...]
    suffix: str = PARQUET

    def part(self, packed: bytes) -> bytes:
        """Return the content of the part with packed rows."""
        from pyarrow import json, parquet

        lines = b"\n".join(unpack(packed))
        if lines:
            table = json.read_json(
                BytesIO(lines),
                read_options=json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
                parse_options=json.ParseOptions(explicit_schema=self._schema, unexpected_field_behavior="error"),
            )
        else:
            table = self._schema.empty_table()
        stream = BytesIO()
        parquet.write_table(table, stream, compression="zstd")
        return stream.getvalue()

    @cached_property
    def _schema(self) -> Any:
        import pyarrow

        kinds = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64(), bool: pyarrow.bool_()}
        columns = dict(columns_of())
        columns |= {FACET + name: str for name in self.facets}
        columns |= {head + name: kind for name in self.metrics for head, kind in ((SCORE, float), (REASON, str))}
        return pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])


def format_of(outcomes: Sequence[Outcome], metrics: Sequence[str]) -> JsonParts | ParquetParts:
    """Return the format of the rows of outcomes: Parquet if pyarrow is installed, else JSON Lines."""
    if find_spec("pyarrow") is None:
        return JsonParts()
    distinct = {id(outcome.facets): outcome.facets for outcome in outcomes}  # few, because equal ones are one object
    return ParquetParts(tuple(sorted({name for facets in distinct.values() for name in facets})), tuple(metrics))


def read_part(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a part, without keys that have no value.

    Raises:
        MissingDependencyError: it is Parquet, and pyarrow is not installed.
        OSError, ValueError: it cannot be read.
    """
    if path.suffix != PARQUET:
        yield from unpack_rows(path.read_bytes())
        return
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError(f"reading {path.name}", "parquet") from error
    for row in parquet.read_table(BytesIO(path.read_bytes())).to_pylist():
        yield {name: value for name, value in row.items() if value is not None}
