"""Vectors on disk, and the exact search in them: what every index is measured against."""

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
SLACK = 1e-5  # what a float32 score may be off by, of the largest


class Searcher(Protocol):
    """An index that is open."""

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return positions of ``k`` vectors or more in any order, among them those it takes for the nearest.

        Fewer come back where it finds fewer; each once.
        """
        ...

    def resident_bytes(self) -> int | None:
        """Return what it has in memory; None where that is not known."""
        ...


class VectorIndex(Protocol):
    """A kind of index, with its settings."""

    @property
    def name(self) -> str:
        """What the setting ``index`` calls it."""
        ...

    @property
    def library(self) -> str:
        """The distribution that builds it, whose version is a part of what the index is made of."""
        ...

    @property
    def built_with(self) -> dict[str, object]:
        """The settings that another index has to be built for."""
        ...

    @property
    def searched_with(self) -> dict[str, object]:
        """The settings of a search."""
        ...

    def build(self, vectors: Vectors, folder: Path) -> None:
        """Write the index of the vectors into a folder."""
        ...

    def open(self, folder: Path, size: int) -> Searcher:
        """Return the index that was built of ``size`` vectors."""
        ...


class Vectors:
    """The vectors of a corpus, one row a passage, searched by their inner product with a query's: exactly.

    Args:
        matrix: float32, in memory or mapped.
        folder: where it is mapped from.
    """

    def __init__(self, matrix: Matrix, folder: Path | None = None) -> None:
        self.matrix = matrix
        self._folder = folder

    @classmethod
    def load(cls, folder: Path, passages: int) -> Vectors:
        """Return the vectors in a folder, mapped into memory, so that all processes share them.

        Raises:
            DataError: the file is damaged, or holds another number of vectors.
        """
        import numpy as np

        path, again = folder / FILE, f"remove the folder {folder}, and it is built anew"
        try:
            matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, TokenError):  # numpy tokenizes the head
            raise DataError(str(path), f"cannot be read as vectors; {again}") from None
        if matrix.ndim != 2 or matrix.dtype != np.float32 or len(matrix) != passages:
            what = " x ".join(map(str, matrix.shape))
            raise DataError(str(path), f"holds {what} of {matrix.dtype}, not a vector a passage ({passages}); {again}")
        return cls(matrix, folder)

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def dimension(self) -> int:
        """Numbers a vector."""
        return int(self.matrix.shape[1])

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return the positions of the ``k`` best, best first, ties in corpus order."""
        import numpy as np

        scores = self.matrix @ query
        if k >= len(scores):
            return self.ranked(query, np.arange(len(scores)), k)[0]
        bound = np.partition(scores, len(scores) - k)[len(scores) - k]
        return self.ranked(query, np.flatnonzero(scores >= bound - SLACK * np.abs(scores).max()), k)[0]

    def resident_bytes(self) -> int | None:
        """Return what of them is in memory; None where that is not known."""
        return self.matrix.nbytes if self._folder is None else resident_bytes(self._folder)

    def ranked(self, query: Matrix, positions: Positions, k: int) -> tuple[Positions, npt.NDArray[np.float64]]:
        """Return the ``k`` best of ``positions`` and their scores, best first, ties in corpus order.

        A product of matrices may give equal rows scores that differ in the last digit; these sums do not.
        """
        import numpy as np

        positions = np.sort(positions)
        scores = (self.matrix[positions].astype(np.float64) * query).sum(axis=1)
        best = np.argsort(-scores, kind="stable")[:k]
        return positions[best], scores[best]


def recall_at_10(vectors: Vectors, index: Searcher) -> float | None:
    """Return how many of the ten nearest neighbours an index finds, 0..1; None for a single vector.

    Asked for are the neighbours of up to 200 of the stored vectors, evenly spread, without the vector itself; found is
    one that is as near as the exact tenth, so that ties count. Queries that are unlike the passages may fare worse.
    """
    import numpy as np

    wanted = min(CUTOFF, len(vectors) - 1)
    if wanted == 0:
        return None
    at = np.unique(np.linspace(0, len(vectors) - 1, SAMPLE).astype(np.int64))
    shares = []
    for position in at:
        query = np.array(vectors.matrix[position])
        exact, near = (one.nearest(query, wanted + 1) for one in (vectors, index))
        _, scores = vectors.ranked(query, exact[exact != position], wanted)
        _, reached = vectors.ranked(query, near[near != position], wanted)
        shares.append(float((reached >= scores[-1] - 1e-9).sum()) / wanted)
    return sum(shares) / len(shares)


def resident_bytes(folder: Path) -> int | None:
    """Return how much of the files in a folder this process has mapped and in memory; None where it cannot be told."""
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
