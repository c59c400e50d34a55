"""The index ``hnsw``: a graph of vectors, built and searched by usearch."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import DataError, MissingDependencyError
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.vectors import resident_bytes

if TYPE_CHECKING:
    from pytest_rageval.retrieval.vectors import Matrix, Positions, Vectors

__all__ = ["Hnsw", "HnswSearcher"]

FILE = "graph.usearch"
BLOCK_ROWS = 8_192
MAX_FLOAT16 = 60_000.0  # a little less than the largest 16-bit float


@dataclass(frozen=True)
class Hnsw:
    """HNSW over vectors (Malkov and Yashunin, 2018).

    The graph stores 16 bits per number, which halves memory and time; the exact vectors score the results again. One
    thread builds the graph, so every build gives the same graph.

    Attributes:
        m: number of neighbours of a vector; more neighbours raise recall and memory use.
        ef_construction: number of candidates for the neighbours of a vector during the build.
        ef_search: number of candidates of a search; more candidates raise recall and time.
    """

    m: int
    ef_construction: int
    ef_search: int

    name = "hnsw"

    @classmethod
    def of(cls, params: Params) -> Hnsw:
        """Return the index of the settings ``m`` (default 16), ``ef_construction`` (128) and ``ef_search`` (64).

        Raises:
            SettingError: a setting is invalid.
            MissingDependencyError: usearch is not installed.
        """
        settings = cls(
            params.whole("m", 16, minimum=2, maximum=256),
            params.whole("ef_construction", 128, maximum=65_536),
            params.whole("ef_search", 64, maximum=65_536),
        )
        if find_spec("usearch") is None:
            raise MissingDependencyError("the index 'hnsw'", "dense")
        return settings

    @property
    def versions(self) -> dict[str, object]:
        """The version of usearch."""
        return {"usearch": version("usearch")}

    @property
    def build_settings(self) -> dict[str, object]:
        """The settings that affect the build."""
        return {"m": self.m, "ef_construction": self.ef_construction}

    @property
    def search_settings(self) -> dict[str, object]:
        """The settings that affect only the search."""
        return {"ef_search": self.ef_search}

    def build(self, vectors: Vectors, folder: Path) -> None:
        """Write the graph of the vectors into a folder."""
        import numpy as np
        from usearch.index import Index

        blocks = [vectors.matrix[start : start + BLOCK_ROWS] for start in range(0, len(vectors), BLOCK_ROWS)]  # views
        index: Any = Index(
            ndim=vectors.dimension,
            metric="ip",
            dtype="f16" if all(np.abs(block).max() < MAX_FLOAT16 for block in blocks) else "f32",
            connectivity=self.m,
            expansion_add=self.ef_construction,
        )
        for number, block in enumerate(blocks):
            index.add(np.arange(len(block)) + number * BLOCK_ROWS, block, threads=1)
        index.save(str(folder / FILE))

    def open(self, folder: Path, size: int) -> HnswSearcher:
        """Open the graph in a folder.

        Raises:
            DataError: the file is damaged or has another number of vectors.
        """
        return HnswSearcher(folder, size, self.ef_search)


class HnswSearcher:
    """Search a graph on disk; it is mapped into memory and shared by all processes."""

    def __init__(self, folder: Path, size: int, ef_search: int) -> None:
        from usearch.index import Index

        self._folder, self._ef_search = folder, ef_search
        try:
            self._index: Any = Index.restore(str(folder / FILE), view=True)
        except (OSError, RuntimeError, ValueError):
            self._index = None
        if self._index is None or len(self._index) != size:
            problem = f"holds no graph of {size:,} vectors; remove the folder {folder} to rebuild the index"
            raise DataError(str(folder / FILE), problem)
        self._index.expansion_search = ef_search

    def nearest(self, query: Matrix, k: int) -> Positions:
        """Return the positions of all candidates: ``k`` or more, unless the search reaches fewer vectors."""
        import numpy as np

        count = min(max(k, self._ef_search), len(self._index))
        return np.asarray(self._index.search(query, count, threads=1).keys, dtype=np.int64)

    def resident_bytes(self) -> int | None:
        """Return the bytes of the graph that are in memory."""
        return resident_bytes(self._folder)
