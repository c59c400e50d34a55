"""Vectors on disk and exact search, the reference for every index."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Protocol

from pytest_rageval.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Positions = npt.NDArray[np.int64]

__all__ = ["FILE", "Searcher", "VectorIndex", "Vectors", "recall_at_10", "resident_bytes"]

FILE = "vectors.npy"
SAMPLE, CUTOFF = 200, 10
SLACK = 1e-5  # error of a float32 score, relative to the largest


class Searcher(Protocol):
    """An open index."""

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return the positions of the (approximately) nearest vectors: ``k`` or more, unique, in any order.

        Returns fewer if the search finds fewer.
        """
        ...

    def resident_bytes(self) -> int | None:
        """Return the bytes it has in memory; None if unknown."""
        ...


class VectorIndex(Protocol):
    """A kind of index, with its settings."""

    @property
    def name(self) -> str:
        """Its value of the setting ``index``."""
        ...

    @property
    def versions(self) -> dict[str, object]:
        """The version of the library that builds it, by name; part of the index's key."""
        ...

    @property
    def build_settings(self) -> dict[str, object]:
        """The settings that affect the build."""
        ...

    @property
    def search_settings(self) -> dict[str, object]:
        """The settings that affect only the search."""
        ...

    def build(self, vectors: Vectors, folder: Path) -> None:
        """Write the index of the vectors into a folder."""
        ...

    def open(self, folder: Path, size: int) -> Searcher:
        """Open the index of ``size`` vectors in a folder."""
        ...


class Vectors:
    """The vectors of a corpus, one row per passage, searched exactly by inner product with the query.

    Args:
        matrix: float32, in memory or mapped.
        folder: the folder of the mapped file; None for a matrix in memory.
    """

    def __init__(self, matrix: Matrix, folder: Path | None = None) -> None:
        self.matrix = matrix
        self._folder = folder

    @classmethod
    def load(cls, folder: Path, passages: int) -> Vectors:
        """Return the vectors in a folder, mapped into memory and shared by all processes.

        Raises:
            DataError: the file is damaged or has another number of vectors.
        """
        import numpy as np

        path, again = folder / FILE, f"remove the folder {folder} to rebuild the index"
        try:
            matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, TokenError):  # numpy tokenizes the file header
            raise DataError(str(path), f"cannot be read as vectors; {again}") from None
        if matrix.ndim != 2 or matrix.dtype != np.float32 or len(matrix) != passages:
            shape = " x ".join(map(str, matrix.shape))
            raise DataError(
                str(path), f"holds {shape} of {matrix.dtype}, not one vector per passage ({passages}); {again}"
            )
        return cls(matrix, folder)

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def dimension(self) -> int:
        """Numbers per vector."""
        return int(self.matrix.shape[1])

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return the positions of the ``k`` best vectors, best first, ties in corpus order."""
        import numpy as np

        scores = self.matrix @ query
        if k >= len(scores):
            return self.ranked(query, np.arange(len(scores)), k)[0]
        bound = np.partition(scores, len(scores) - k)[len(scores) - k]
        return self.ranked(query, np.flatnonzero(scores >= bound - SLACK * np.abs(scores).max()), k)[0]

    def resident_bytes(self) -> int | None:
        """Return the bytes of the matrix that are in memory; None if unknown."""
        return self.matrix.nbytes if self._folder is None else resident_bytes(self._folder)

    def ranked(self, query: Matrix, positions: Positions, k: int) -> tuple[Positions, npt.NDArray[np.float64]]:
        """Return the ``k`` best of ``positions`` and their scores, best first, ties in corpus order.

        A matrix product may score equal rows differently in the last digit; these sums do not.
        """
        import numpy as np

        positions = np.sort(positions)
        scores = (self.matrix[positions].astype(np.float64) * query).sum(axis=1)
        best = np.argsort(-scores, kind="stable")[:k]
        return positions[best], scores[best]


def recall_at_10(vectors: Vectors, index: Searcher) -> float | None:
    """Return the share of the ten nearest neighbours that an index finds, 0..1; None for a single vector.

    The queries are up to 200 of the stored vectors, evenly spread; a vector is not its own neighbour. A result counts
    if it is as near as the exact tenth neighbour, so ties count. Queries unlike the passages may have a lower recall.
    """
    import numpy as np

    k = min(CUTOFF, len(vectors) - 1)
    if k == 0:
        return None
    sample = np.unique(np.linspace(0, len(vectors) - 1, SAMPLE).astype(np.int64))
    shares = []
    for position in sample:
        query = np.array(vectors.matrix[position])
        expected, actual = (searcher.nearest(query, k + 1) for searcher in (vectors, index))
        _, scores = vectors.ranked(query, expected[expected != position], k)
        _, actual_scores = vectors.ranked(query, actual[actual != position], k)
        shares.append(float((actual_scores >= scores[-1] - 1e-9).sum()) / k)
    return sum(shares) / len(shares)


def resident_bytes(folder: Path) -> int | None:
    """Return the bytes of a folder's files that this process has mapped and in memory; None if unknown."""
    mapped, total = False, 0
    try:
        lines = Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, rest = line.partition(":")
        if name == "Rss" and mapped:
            total += int(rest.split()[0]) * 1024
        elif "-" in name.partition(" ")[0]:
            mapped = f"{folder}/" in line
    return total
