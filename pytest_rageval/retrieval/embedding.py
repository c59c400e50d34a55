"""The vectors of passages, written as they are made, and of questions; one that cannot be used is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import CaseError, SettingError, found
from pytest_rageval.model.case import Passage
from pytest_rageval.retrieval.encoder import Encoder
from pytest_rageval.retrieval.vectors import FILE

if TYPE_CHECKING:
    from pytest_rageval.retrieval.vectors import Matrix

__all__ = ["DenseSettings", "embedded", "query_vector"]

AT_ONCE = 1_024
"""Passages that go to the encoder together, which sorts them by length."""


@dataclass(frozen=True, slots=True)
class DenseSettings:
    """What the vectors depend on beside the model.

    Attributes:
        model: its folder or name, as it was given.
        query_prefix: what stands before a question; e5 wants ``query: ``.
        passage_prefix: what stands before a passage's title and text; e5 wants ``passage: ``.
        pooling: how the vectors of tokens become one.
        normalize: whether vectors are made as long as 1, so that their product is their cosine.
    """

    model: str
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "model"
    normalize: bool = True


def embedded(passages: Iterable[Passage], count: int, encoder: Encoder, settings: DenseSettings, folder: Path) -> int:
    """Write the vectors of ``count`` passages to a file in a folder, and return their dimension.

    A passage is embedded as its prefix, its title where it has one, and its text, with a space between.

    Raises:
        SettingError: the encoder gives a passage a vector of another dimension than the first, one that holds what is
            no finite number, or zeros where it is to be normalised.
    """
    import numpy as np

    prefix, normalize = settings.passage_prefix, settings.normalize
    matrix: Matrix | None = None
    open_memmap: Any = np.lib.format.open_memmap
    done = 0
    for batch in _batches(passages):
        rows = encoder.encode([f"{prefix}{p.title} {p.text}" if p.title else f"{prefix}{p.text}" for p in batch])
        if matrix is None:
            shape = (count, rows.shape[1])
            matrix = open_memmap(folder / FILE, mode="w+", dtype=np.float32, shape=shape)
        wrong = _fault(rows, normalize, matrix.shape[1])
        if wrong is not None:
            row, what = wrong
            raise SettingError(f"the model gives the passage {found(batch[row].id)} {what}; take another model or text")
        matrix[done : done + len(batch)] = _normal(rows) if normalize else rows
        done += len(batch)
    return 0 if matrix is None else int(matrix.shape[1])


def query_vector(encoder: Encoder, text: str, normalize: bool, dimension: int) -> Matrix:
    """Return the vector of a question.

    Raises:
        CaseError: it is of another dimension than the passages', or cannot be used ("bad_vector").
    """
    rows = encoder.encode([text])
    wrong = _fault(rows, normalize, dimension)
    if wrong is not None:
        raise CaseError("bad_vector", f"the model gives the question {wrong[1]}; it cannot be searched for")
    row: Matrix = (_normal(rows) if normalize else rows)[0]
    return row


def _batches(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    left = iter(passages)
    while batch := list(islice(left, AT_ONCE)):
        yield batch


def _fault(rows: Matrix, normalize: bool, dimension: int) -> tuple[int, str] | None:
    """Return the first row that cannot be used and why, or None."""
    import numpy as np

    if rows.shape[1] != dimension:
        return 0, f"a vector of {rows.shape[1]} dimensions, where the index has {dimension}"
    infinite = ~np.isfinite(rows).all(axis=1)
    if infinite.any():
        return int(infinite.argmax()), "a vector with NaN or infinity"
    zero = ~rows.any(axis=1)
    if normalize and zero.any():
        return int(zero.argmax()), "a vector of zeros, which cannot be normalised"
    return None


def _normal(rows: Matrix) -> Matrix:
    import numpy as np

    long = rows.astype(np.float64)
    normal: Matrix = (long / np.linalg.norm(long, axis=1, keepdims=True)).astype(np.float32)
    return normal
