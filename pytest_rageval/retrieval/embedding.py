"""Embed passages and queries, and check their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import CaseError, SettingError, short_repr
from pytest_rageval.model.case import Passage
from pytest_rageval.retrieval.encoder import Encoder
from pytest_rageval.retrieval.vectors import FILE

if TYPE_CHECKING:
    from pytest_rageval.retrieval.vectors import Matrix

__all__ = ["DenseSettings", "query_vector", "write_vectors"]

BATCH = 1_024
"""Number of passages per call of the encoder, which sorts them by length."""


@dataclass(frozen=True, slots=True)
class DenseSettings:
    """The settings that affect the vectors.

    Attributes:
        model: the folder or name of the model, as the user wrote it.
        query_prefix: text before a query; e5 needs ``query: ``.
        passage_prefix: text before a passage's title and text; e5 needs ``passage: ``.
        pooling: how the vectors of the tokens become one vector: one of `encoder.POOLINGS`.
        normalize: whether vectors are scaled to length 1, so their inner product is the cosine.
    """

    model: str
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "model"
    normalize: bool = True


def write_vectors(
    passages: Iterable[Passage], count: int, encoder: Encoder, settings: DenseSettings, folder: Path
) -> int:
    """Write the vectors of ``count`` passages to a file in a folder, and return their dimension.

    The encoder gets the prefix, then title and text with a space between them, or the text alone if there is no title.

    Raises:
        SettingError: the vector of a passage differs in dimension from the first vector, contains NaN or infinity, or
            is all zeros and cannot be normalised.
    """
    import numpy as np

    prefix, normalize = settings.passage_prefix, settings.normalize
    matrix: Matrix | None = None
    open_memmap: Any = np.lib.format.open_memmap
    position = 0
    for batch in _batches(passages):
        rows = encoder.encode([f"{prefix}{p.title} {p.text}" if p.title else f"{prefix}{p.text}" for p in batch])
        if matrix is None:
            shape = (count, rows.shape[1])
            matrix = open_memmap(folder / FILE, mode="w+", dtype=np.float32, shape=shape)
        fault = _fault(rows, normalize, matrix.shape[1])
        if fault is not None:
            row, problem = fault
            raise SettingError(
                f"the model gives the passage {short_repr(batch[row].id)} {problem}; use another model or text"
            )
        matrix[position : position + len(batch)] = _normalised(rows) if normalize else rows
        position += len(batch)
    return 0 if matrix is None else int(matrix.shape[1])


def query_vector(encoder: Encoder, text: str, normalize: bool, dimension: int) -> Matrix:
    """Return the vector of a query.

    Raises:
        CaseError: the vector is invalid or its dimension differs from the passages' ("bad_vector").
    """
    rows = encoder.encode([text])
    fault = _fault(rows, normalize, dimension)
    if fault is not None:
        raise CaseError("bad_vector", f"the model gives the question {fault[1]}; it cannot be searched for")
    row: Matrix = (_normalised(rows) if normalize else rows)[0]
    return row


def _batches(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    iterator = iter(passages)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _fault(rows: Matrix, normalize: bool, dimension: int) -> tuple[int, str] | None:
    """Return the index of the first invalid row and the problem, or None."""
    import numpy as np

    if rows.shape[1] != dimension:
        return 0, f"a vector of {rows.shape[1]} dimensions, but the index has {dimension}"
    infinite = ~np.isfinite(rows).all(axis=1)
    if infinite.any():
        return int(infinite.argmax()), "a vector with NaN or infinity"
    zero = ~rows.any(axis=1)
    if normalize and zero.any():
        return int(zero.argmax()), "a vector of zeros, which cannot be normalised"
    return None


def _normalised(rows: Matrix) -> Matrix:
    """Return the rows scaled to length 1."""
    import numpy as np

    exact = rows.astype(np.float64)
    unit_rows: Matrix = (exact / np.linalg.norm(exact, axis=1, keepdims=True)).astype(np.float32)
    return unit_rows
