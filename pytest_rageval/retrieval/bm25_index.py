"""BM25 scores of documents, made here and asked, saved and loaded by bm25s."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Bm25Index"]


class Bm25Index:
    """BM25 scores of tokenised documents (Lucene's variant: its idf is never negative).

    Args:
        documents: the terms of each document; documents may be empty.
        k1: how fast repeated terms saturate, >= 0.
        b: how much long documents are marked down, 0..1.
    """

    def __init__(self, documents: Iterable[Iterable[str]], k1: float, b: float) -> None:
        from pytest_rageval.retrieval.postings import postings_of

        made = postings_of(documents, k1, b)
        self._index = _bm25s().BM25(k1=k1, b=b)
        self._index.scores = {
            "data": made.data,
            "indices": made.indices,
            "indptr": made.indptr,
            "num_docs": made.documents,
        }
        self._folder: Path | None = None
        self._index.vocab_dict = made.vocabulary
        self._index.nonoccurrence_array = None

    @classmethod
    def load(cls, folder: Path) -> Bm25Index:
        """Return a saved index. Its scores stay on disk and are read where they are needed, by all processes together.

        Raises:
            DataError: a file holds something else than was saved.
        """
        index = cls.__new__(cls)
        index._folder = folder
        try:
            index._index = _bm25s().BM25.load(folder, mmap=True, allow_pickle=False)
        except (OSError, EOFError, ValueError, LookupError, TypeError, TokenError):  # numpy tokenizes an array's head
            raise _damaged(folder) from None
        return index

    def save(self, folder: Path) -> None:
        """Write the index to files in a folder: arrays of numbers and JSON, nothing pickled."""
        self._index.save(folder, allow_pickle=False)

    @property
    def resident_bytes(self) -> int:
        """What the index takes in memory; scores on disk count as far as they may come to be held there: whole."""
        words: dict[str, int] = self._index.vocab_dict
        arrays = sum(self._index.scores[name].nbytes for name in ("data", "indices", "indptr"))
        return int(arrays) + sys.getsizeof(words) + sum(map(sys.getsizeof, words))

    def scores(self, terms: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one score a document, in order; 0 exactly where a document holds none of the terms.

        Raises:
            DataError: what was loaded is not as it was saved, so that it points nowhere.
        """
        known = self._index.get_tokens_ids(terms)
        if not known:
            import numpy as np

            return np.zeros(self._index.scores["num_docs"], dtype=np.float32)
        try:
            scores: npt.NDArray[np.float32] = self._index.get_scores_from_ids(known)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            if self._folder is None:
                raise
            raise _damaged(self._folder) from None
        return scores

    def best(self, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return the ``k`` best documents with a score above 0, best first and equal ones in their order."""
        import numpy as np

        scores = self.scores(terms)
        least = np.partition(scores, -k)[-k] if k < len(scores) else 0.0
        found = (scores >= least).nonzero()[0] if least > 0 else scores.nonzero()[0]
        best = found[(-scores[found]).argsort(kind="stable")][:k]  # of documents that tie for the last place, the first
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))


def _damaged(folder: Path) -> DataError:
    return DataError(str(folder), "holds no index of bm25s; remove it, and it is built anew")


def _bm25s() -> Any:
    import logging

    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it reports every index it makes at debug level
    return bm25s
